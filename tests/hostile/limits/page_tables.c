/* attack: memory of the kernel, in page tables for a mapping in which there is nothing but zeroes
 * expect: memory_limit
 * limits: memory_mb=64
 */
#include "attack.h"

int main(void) {
    /* Each 2 MiB of addresses need a page table of 4 KiB; one page of each is read. */
    const size_t apart = 2 * MIB, tables = 192 * MIB / 4096;
    char *memory = mmap(NULL, tables * apart, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!attempt("mmap", memory == MAP_FAILED ? -1 : 0)) return limited(0);
    /* A huge zero page would need no table. */
    madvise(memory, tables * apart, MADV_NOHUGEPAGE);
    for (size_t at = 0; at < tables; at++) *(volatile char *)(memory + at * apart);
    /* Long enough to be seen by a sampler. */
    sleep_ms(4000);
    return limited(1);
}
