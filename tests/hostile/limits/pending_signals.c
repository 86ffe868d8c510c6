/* attack: every pending signal that a user may have, so that no timer of the user can be made
 * expect: ok
 * stdout: timer_create EAGAIN
 * stdout: CONTAINED
 */
#include "attack.h"

int main(void) {
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
    long made = 0, answer = 0;
    while (made < 5000 && (answer = timer_create(CLOCK_MONOTONIC, &event, &(timer_t){0})) >= 0) made++;
    attempt("timer_create", answer);
    printf("timers %ld\n", made);
    return limited(made >= 5000);
}
