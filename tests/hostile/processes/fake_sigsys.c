/* attack: ending by SIGSYS that no filter sent
 * expect: signal 31 or seccomp_violation
 * elsewhere: no
 */
#include "attack.h"

/* Who claims a violation is taken at its word: nothing is won by it. */
int main(void) {
    raise(SIGSYS);
    return 0;
}
