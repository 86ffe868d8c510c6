/* attack: a watch on what two sandboxes may share
 * expect: ok
 * stdout: inotify_init1 ENOSYS or inotify_init1 EPERM
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("inotify_init1", syscall(SYS_inotify_init1, 0))
