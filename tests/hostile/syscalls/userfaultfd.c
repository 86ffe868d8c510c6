/* attack: user faults, which hold the kernel where an exploit wants it
 * expect: seccomp_violation
 * names: userfaultfd
 */
#include "attack.h"

ONE_CALL("userfaultfd", syscall(SYS_userfaultfd, O_CLOEXEC | 1 /* UFFD_USER_MODE_ONLY */))
