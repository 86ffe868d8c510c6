/* attack: taking a descriptor out of its parent
 * expect: seccomp_violation
 * names: pidfd_getfd
 */
#include "attack.h"

ONE_CALL("pidfd_getfd", syscall(SYS_pidfd_getfd, syscall(SYS_pidfd_open, getppid(), 0), 1, 0))
