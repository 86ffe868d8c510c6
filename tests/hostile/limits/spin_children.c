/* attack: a processor for ever, in children that each live for a moment
 * expect: cpu_limit
 * limits: cpu_sec=1
 * within: 8
 */
#include "attack.h"

int main(void) {
    for (;;) {
        if (fork() == 0) {
            for (clock_t begun = clock(); clock() - begun < CLOCKS_PER_SEC / 50;) {}
            _exit(0);
        }
        wait(NULL);
    }
}
