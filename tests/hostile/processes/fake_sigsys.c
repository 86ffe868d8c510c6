/* attack: ending by SIGSYS that no filter sent
 * expect: signal 31 or seccomp_violation
 * elsewhere: no
 */
#include "attack.h"

/* A program that fakes a violation is recorded as one: it gains nothing. */
int main(void) {
    raise(SIGSYS);
    return 0;
}
