/* attack: a cookie of core scheduling that starves others
 * expect: ok
 * elsewhere: no
 */
#include "attack.h"

int main(void) {
    attempt("prctl", prctl(62 /* PR_SCHED_CORE */, 1, 1, 0, 0));
    return verdict(0);
}
