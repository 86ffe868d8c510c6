/* attack: a process that is always one fork ahead of the process that kills it
 * expect: ok
 * stdout: CONTAINED
 * within: 8
 * elsewhere: no
 */
#include "attack.h"

/* Not under other launchers: without a limit of processes, the dead ones that its parent has not
 * collected fill the host's process numbers within seconds. */

int main(void) {
    pid_t first = fork();
    if (first == 0) {
        setsid();
        /* Each generation ends at once; the chain would continue for a minute. */
        for (long begun = time(NULL); time(NULL) - begun < 60;)
            if (fork() > 0) _exit(0);
        _exit(0);
    }
    sleep_ms(300);
    return limited(0);
}
