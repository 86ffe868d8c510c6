/* attack: a child that lives on and keeps stdout open
 * expect: ok
 * stdout: CONTAINED
 * within: 6
 */
#include "attack.h"

int main(void) {
    if (fork() == 0) {
        setsid();
        signal(SIGHUP, SIG_IGN);
        sleep_ms(60000);
        _exit(0);
    }
    return verdict(0);
}
