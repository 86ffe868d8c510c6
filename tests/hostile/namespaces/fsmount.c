/* attack: a file system by the new mount calls: fsmount(2)
 * expect: seccomp_violation
 * names: fsmount
 */
#include "attack.h"

ONE_CALL("fsmount", syscall(SYS_fsmount, 0, 0, 0))
