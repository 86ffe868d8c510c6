/* attack: three times the memory as a shared mapping of /dev/zero
 * expect: memory_limit
 * limits: memory_mb=64
 * expect.user: ok
 * stdout.user: CONTAINED
 */
#include "attack.h"

int main(void) {
    int file = open("/dev/zero", O_RDWR);
    if (!attempt("open", file)) return limited(0);
    char *memory = mmap(NULL, 192 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (!attempt("mmap", memory == MAP_FAILED ? -1 : 0)) return limited(0);
    touch(memory, 192 * MIB);
    return limited(1);
}
