/* attack: three times the memory in huge pages, from four processes at once
 * expect: memory_limit
 * limits: memory_mb=64
 */
#include "attack.h"

int main(void) {
    for (int child = 0; child < 3; child++)
        if (fork() == 0) break;
    char *memory = mmap(NULL, 64 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(memory, 64 * MIB, MADV_HUGEPAGE);
    memset(memory, 1, 64 * MIB);
    /* Long enough to be seen by a sampler. */
    sleep_ms(4000);
    return limited(1);
}
