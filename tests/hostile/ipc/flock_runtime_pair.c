/* attack: a lock on a file of the runtime, which two runs do share
 * expect: ok
 * stdout: flock DONE
 * together: 2
 */
#include "attack.h"
#include <sys/file.h>

int main(void) {
    int alone = attempt("flock", flock(open("/usr/bin/env", O_RDONLY), LOCK_EX | LOCK_NB));
    /* The other run may begin later on a busy host. */
    sleep_ms(5000);
    return verdict(!alone);
}
