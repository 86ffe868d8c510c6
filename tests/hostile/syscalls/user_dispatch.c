/* attack: catching system calls in the program itself, past the process that counts denied calls
 * expect: ok
 * stdout: prctl EPERM or prctl ENOSYS
 * names: prctl
 */
#include "attack.h"

/* PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, for every call, with a selector that says block. */
int main(void) {
    static char block = 1;
    if (prctl(59, 1, 0, 0, &block) < 0) return closed(attempt("prctl", -1));
    write(1, "OPEN\n", 5);
    return 0;
}
