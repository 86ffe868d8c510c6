/* attack: a daemon: two forks, a session of its own, no streams
 * expect: ok
 * stdout: CONTAINED
 * within: 6
 */
#include "attack.h"

int main(void) {
    if (fork() == 0) {
        setsid();
        if (fork()) _exit(0);
        close(0);
        close(1);
        close(2);
        sleep_ms(60000);
        _exit(0);
    }
    sleep_ms(100);
    return verdict(0);
}
