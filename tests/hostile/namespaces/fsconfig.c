/* attack: settings for a file system
 * expect: seccomp_violation
 * names: fsconfig
 */
#include "attack.h"

ONE_CALL("fsconfig", syscall(SYS_fsconfig, 0, 0, "size", NULL, 0))
