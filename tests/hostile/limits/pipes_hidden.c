/* attack: memory of the kernel in pipes of processes that may not be looked into
 * expect: memory_limit
 * limits: memory_mb=48
 */
#include "attack.h"

int main(void) {
    static char block[65536];
    prctl(PR_SET_DUMPABLE, 0);
    for (int child = 0; child < 8; child++)
        if (fork() == 0) {
            int ends[2];
            while (pipe2(ends, O_NONBLOCK) == 0) {
                while (write(ends[1], block, sizeof block) > 0) {}
                close(ends[1]);
            }
            /* Long enough to be seen by a sampler. */
            sleep_ms(4000);
            _exit(0);
        }
    while (wait(NULL) > 0) {}
    return limited(1);
}
