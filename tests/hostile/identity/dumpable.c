/* attack: making itself readable to others of its user
 * expect: ok
 * stdout: CONTAINED
 */
#include "attack.h"

/* Allowed: the sandbox has no other process, and pid 1 is not dumpable. */
int main(void) {
    attempt("prctl", prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
    return verdict(0);
}
