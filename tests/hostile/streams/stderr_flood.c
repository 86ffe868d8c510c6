/* attack: stderr without an end
 * expect: output_limit
 * limits: stream_mib=1
 * within: 8
 */
#include "attack.h"

int main(void) {
    static char block[65536];
    memset(block, 'x', sizeof block);
    block[sizeof block - 1] = '\n';
    for (int count = 0; count < 1024; count++)
        if (write(2, block, sizeof block) < 0) return 1;
    return limited(1);
}
