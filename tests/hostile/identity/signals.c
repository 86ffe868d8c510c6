/* attack: signals that are ignored or blocked from the start
 * expect: ok
 * stdout: ignored 0, blocked 0
 */
#include "attack.h"

int main(void) {
    int ignored = 0, blocked = 0;
    sigset_t mask;
    sigprocmask(SIG_BLOCK, NULL, &mask);
    for (int number = 1; number < 65; number++) {
        struct sigaction action;
        if (sigaction(number, NULL, &action) == 0) ignored += action.sa_handler == SIG_IGN;
        blocked += sigismember(&mask, number) == 1;
    }
    printf("ignored %d, blocked %d\n", ignored, blocked);
    return verdict(0);
}
