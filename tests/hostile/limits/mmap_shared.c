/* attack: three times the memory, shared and without a name
 * expect: memory_limit
 * limits: memory_mb=64
 * expect.user: ok
 * stdout.user: mmap ENOSYS or mmap EPERM
 */
#include "attack.h"

int main(void) {
    char *memory = mmap(NULL, 192 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!attempt("mmap", memory == MAP_FAILED ? -1 : 0)) return limited(0);
    touch(memory, 192 * MIB);
    return limited(1);
}
