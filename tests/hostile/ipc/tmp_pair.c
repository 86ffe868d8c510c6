/* attack: a file in /tmp between two runs
 * expect: ok
 * stdout: open DONE
 * together: 2
 */
#include "attack.h"

int main(void) {
    int alone = attempt("open", open("/tmp/toolexec-hostile", O_CREAT | O_EXCL | O_RDWR, 0666));
    sleep_ms(1000);
    unlink("/tmp/toolexec-hostile");
    return verdict(!alone && errno == EEXIST);
}
