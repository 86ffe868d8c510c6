/* attack: a filter of its own that answers others' calls
 * expect: ok
 * stdout: CONTAINED
 * elsewhere: no
 */
#include "attack.h"

int main(void) {
    /* A listener: only one filter of a chain may have one, and the tool would own it. */
    uint64_t filter[2] = {0};
    long listener = syscall(SYS_seccomp, 1, 8 /* NEW_LISTENER */, filter);
    attempt("seccomp", listener);
    attempt("prctl", prctl(PR_SET_SECCOMP, 1 /* strict */, 0, 0, 0) < 0 ? -1 : 0);
    return closed(listener >= 0);
}
