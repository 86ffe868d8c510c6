/* attack: both streams at once, faster than they are read, until the end
 * expect: output_limit
 * limits: stream_mib=1
 * within: 10
 * elsewhere: no
 */
#include "attack.h"

int main(void) {
    static char block[1 << 20];
    pid_t other = fork();
    for (;;)
        if (write(other ? 1 : 2, block, sizeof block) < 0) return 1;
}
