/* attack: a watch on the file systems of the host
 * expect: ok
 * stdout: fanotify_init EPERM or fanotify_init ENOSYS
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("fanotify_init", syscall(SYS_fanotify_init, 0, 0))
