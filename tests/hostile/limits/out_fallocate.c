/* attack: more than /out may hold, by fallocate(2)
 * expect: ok
 * limits: memory_mb=64
 * stdout: fallocate ENOSPC
 */
#include "attack.h"

int main(void) {
    go_out();
    int file = open("big", O_RDWR | O_CREAT | O_EXCL, 0600);
    int done = attempt("fallocate", fallocate(file, 0, 0, 192 * MIB));
    unlink("big");
    return limited(done);
}
