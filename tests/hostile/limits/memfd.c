/* attack: three times the memory in a file of memory that is never mapped
 * expect: memory_limit
 * limits: memory_mb=64
 * expect.user: ok
 * stdout.user: memfd_create ENOSYS or memfd_create EPERM
 */
#include "attack.h"

int main(void) {
    int file = memfd_create("hostile", 0);
    if (!attempt("memfd_create", file)) return limited(0);
    return limited(fill_mib(file, 192) == 192);
}
