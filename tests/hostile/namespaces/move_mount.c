/* attack: moving a mount by move_mount(2)
 * expect: seccomp_violation
 * names: move_mount
 */
#include "attack.h"

ONE_CALL("move_mount", syscall(SYS_move_mount, AT_FDCWD, "/in", AT_FDCWD, "/tmp", 0))
