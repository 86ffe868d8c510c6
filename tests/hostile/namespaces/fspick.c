/* attack: the settings of a file system that is mounted
 * expect: seccomp_violation
 * names: fspick
 */
#include "attack.h"

ONE_CALL("fspick", syscall(SYS_fspick, AT_FDCWD, "/tmp", 0))
