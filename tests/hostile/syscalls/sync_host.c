/* attack: writing out all that the host has in its caches
 * expect: ok
 * stdout: sync EPERM or sync ENOSYS
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("sync", syscall(SYS_sync))
