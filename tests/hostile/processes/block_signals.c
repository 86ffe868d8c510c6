/* attack: blocking every signal that can be blocked
 * expect: wall_limit
 * limits: time_sec=1
 * within: 5
 */
#include "attack.h"

int main(void) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    for (;;) pause();
}
