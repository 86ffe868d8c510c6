/* attack: more than /out may hold, by fallocate(2), past the signal that says so
 * expect: ok
 * limits: memory_mb=64
 * stdout: fallocate EFBIG
 */
#include "attack.h"

int main(void) {
    go_out();
    signal(SIGXFSZ, SIG_IGN);
    int file = open("big", O_RDWR | O_CREAT | O_EXCL, 0600);
    int done = attempt("fallocate", fallocate(file, 0, 0, 192 * MIB));
    unlink("big");
    return limited(done);
}
