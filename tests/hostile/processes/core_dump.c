/* attack: a core dump: a program of the host would be started to read it
 * expect: signal 11
 * lacks: core
 * elsewhere: no
 */
#include "attack.h"

int main(void) {
    go_out();
    prctl(PR_SET_DUMPABLE, 1);
    *(volatile int *)8 = 1;
    return 0;
}
