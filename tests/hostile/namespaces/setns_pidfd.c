/* attack: setns(2) into all namespaces of pid 1 by its pidfd
 * expect: seccomp_violation
 * names: setns
 */
#include "attack.h"

ONE_CALL("setns", setns(syscall(SYS_pidfd_open, 1, 0), CLONE_NEWNS | CLONE_NEWNET))
