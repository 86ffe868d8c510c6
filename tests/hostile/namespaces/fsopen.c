/* attack: a file system by the new mount calls: fsopen(2)
 * expect: seccomp_violation
 * names: fsopen
 */
#include "attack.h"

ONE_CALL("fsopen", syscall(SYS_fsopen, "tmpfs", 0))
