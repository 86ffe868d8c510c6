/* attack: a lock on an input that two runs may share: one sees that the other holds it
 * expect: ok
 * stdout: flock DONE
 * together: 2
 * elsewhere: no
 */
#include "attack.h"
#include <sys/file.h>

int main(void) {
    int alone = attempt("flock", flock(open("/in/script.py", O_RDONLY), LOCK_EX | LOCK_NB));
    sleep_ms(1000);
    return verdict(!alone);
}
