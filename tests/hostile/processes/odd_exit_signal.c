/* attack: a child whose end sends no signal, or a deadly one
 * expect: ok
 * stdout: CONTAINED
 * within: 6
 */
#include "attack.h"

int main(void) {
    signal(SIGUSR1, SIG_IGN);
    for (int number = 0; number < 2; number++)
        if (syscall(SYS_clone, number ? SIGUSR1 : 0, 0, 0, 0, 0) == 0) {
            if (syscall(SYS_clone, SIGKILL, 0, 0, 0, 0) == 0) sleep_ms(50);
            _exit(3);
        }
    sleep_ms(200);
    return verdict(0);
}
