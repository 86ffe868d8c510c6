/* attack: twenty thousand calls that are denied, to keep the process busy that answers them
 * expect: seccomp_violation
 * within: 15
 * elsewhere: no
 */
#include "attack.h"

int main(void) {
    int denied = 0;
    for (int count = 0; count < 20000; count++) denied += syscall(SYS_io_uring_setup, 8, NULL) < 0;
    printf("denied %d\n", denied);
    return closed(denied < 20000);
}
