/* attack: as many processes as there can be, for a moment only
 * expect: pids_limit
 * expect.user: pids_limit or exit_nonzero 1
 * stdout: fork EAGAIN
 * within: 12
 */
#include "attack.h"

/* Where limits are sampled, processes that end before the next sample do not reach the limit. */
enum { MOST = 500 };

int main(void) {
    pid_t children[MOST];
    int count = 0;
    while (count < MOST && (children[count] = fork()) > 0) count++;
    if (count < MOST && children[count] == 0) {
        pause();
        _exit(0);
    }
    int failed = count < MOST && !attempt("fork", -1);
    while (count > 0) kill(children[--count], SIGKILL);
    limited(!failed);
    return failed;
}
