/* attack: every epoll watch that a user may have, so that no event loop of the user can start
 * expect.system: memory_limit
 * expect.user: ok
 * stdout.user: epoll_ctl ENOSPC
 * stdout.user: CONTAINED
 * limits.system: memory_mb=48
 * limits.user: memory_mb=256 time_sec=900
 * together: 8
 * elsewhere: no
 */
#include "attack.h"
#include <sys/epoll.h>
#include <sys/eventfd.h>

enum { FILES = 60, FIRST = 100, NUMBERS = 120, MOST = 700000 };

/* One watch for each file at each descriptor number: dup2 can reuse a number repeatedly. */
int main(void) {
    long watches = 0;
    int answer = 0, files[FILES];
    for (int at = 0; at < FILES; at++) files[at] = eventfd(0, 0);
    while (watches < MOST && answer >= 0) {
        int poll = epoll_create1(0);
        if (poll < 0) break;
        /* Moves it away from the numbers in use. */
        if (poll >= FIRST) poll = dup2(poll, poll + NUMBERS);
        for (int number = FIRST; number < FIRST + NUMBERS && answer >= 0; number++)
            for (int at = 0; at < FILES && answer >= 0; at++) {
                struct epoll_event event = {.events = EPOLLIN};
                if (dup2(files[at], number) >= 0) answer = epoll_ctl(poll, EPOLL_CTL_ADD, number, &event);
                watches += answer >= 0;
            }
    }
    attempt("epoll_ctl", answer);
    printf("watches %ld\n", watches);
    sleep_ms(1000);
    return limited(watches >= MOST);
}
