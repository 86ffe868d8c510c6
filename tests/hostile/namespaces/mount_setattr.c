/* attack: making /in writable by mount_setattr(2)
 * expect: seccomp_violation
 * names: mount_setattr
 */
#include "attack.h"

ONE_CALL("mount_setattr", syscall(SYS_mount_setattr, AT_FDCWD, "/in", 0, (uint64_t[4]){0, 1}, 32))
