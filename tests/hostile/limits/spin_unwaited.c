/* attack: a processor for ever, in children that no process waits for, so that their time is never reported
 * expect: cpu_limit
 * limits: cpu_sec=1
 * within: 8
 */
#include "attack.h"

int main(void) {
    signal(SIGCHLD, SIG_IGN);
    for (;;) {
        if (fork() == 0) {
            for (clock_t begun = clock(); clock() - begun < CLOCKS_PER_SEC / 10;) {}
            _exit(0);
        }
        wait(NULL);
    }
}
