/* attack: a record lock on a file of the runtime
 * expect: ok
 * stdout: CONTAINED
 * together: 2
 */
#include "attack.h"

int main(void) {
    struct flock lock = {F_RDLCK, SEEK_SET, 0, 1};
    int file = open("/usr/bin/env", O_RDONLY);
    attempt("F_SETLK", fcntl(file, F_SETLK, &lock));
    /* The other run may begin later on a busy host. */
    sleep_ms(5000);
    lock.l_type = F_WRLCK;
    fcntl(file, F_GETLK, &lock);
    return verdict(lock.l_type != F_UNLCK);
}
