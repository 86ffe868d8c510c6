/* attack: a file in /dev/shm between two runs
 * expect: ok
 * stdout: open DONE
 * together: 2
 */
#include "attack.h"

int main(void) {
    int alone = attempt("open", open("/dev/shm/toolexec-hostile", O_CREAT | O_EXCL | O_RDWR, 0666));
    sleep_ms(1000);
    unlink("/dev/shm/toolexec-hostile");
    return verdict(!alone && errno == EEXIST);
}
