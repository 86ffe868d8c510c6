/* attack: keeping its orphans from pid 1
 * expect: ok
 * stdout: CONTAINED
 * within: 6
 */
#include "attack.h"

int main(void) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (fork() == 0) {
        if (fork()) _exit(0);
        setsid();
        sleep_ms(60000);
        _exit(0);
    }
    sleep_ms(50);
    return verdict(0);
}
