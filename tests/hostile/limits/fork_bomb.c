/* attack: as many processes as there can be
 * expect: pids_limit
 * stdout: fork EAGAIN
 * within: 12
 */
#include "attack.h"

enum { MOST = 500 };

int main(void) {
    pid_t children[MOST];
    int count = 0, failed = 0;
    for (; count < MOST && !failed; count++) {
        children[count] = fork();
        if (children[count] == 0) {
            pause();
            _exit(0);
        }
        if (children[count] < 0) {
            attempt("fork", -1);
            failed = 1;
            count--;
        }
    }
    /* Long enough to be seen by a sampler. */
    sleep_ms(4000);
    for (int at = 0; at < count; at++) kill(children[at], SIGKILL);
    limited(!failed);
    return failed;
}
