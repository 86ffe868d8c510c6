/* attack: as many processes as there can be, for a moment only
 * expect: pids_limit
 * expect.user: pids_limit or exit_nonzero 1
 * stdout: fork EAGAIN
 * within: 12
 */
#include "attack.h"

enum { MOST = 500 };

int main(void) {
    pid_t children[MOST];
    for (int count = 0; count < MOST; count++) {
        children[count] = fork();
        if (children[count] == 0) {
            pause();
            _exit(0);
        }
        if (children[count] < 0) {
            attempt("fork", -1);
            while (count > 0) kill(children[--count], SIGKILL);
            limited(0);
            return 1;
        }
    }
    kill(0, SIGTERM);
    return limited(1);
}
