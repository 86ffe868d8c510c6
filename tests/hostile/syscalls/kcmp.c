/* attack: what its parent has open
 * expect: ok
 * stdout: kcmp EPERM
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("kcmp", syscall(SYS_kcmp, getpid(), getppid(), 0, 1, 1))
