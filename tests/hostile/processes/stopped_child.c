/* attack: a stopped child that keeps the streams
 * expect: ok
 * stdout: CONTAINED
 * within: 6
 */
#include "attack.h"

int main(void) {
    if (fork() == 0) {
        setsid();
        raise(SIGSTOP);
        _exit(0);
    }
    sleep_ms(50);
    return verdict(0);
}
