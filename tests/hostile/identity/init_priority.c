/* attack: slowing pid 1 of the sandbox down
 * expect: ok
 * stdout: setpriority EPERM or setpriority ENOSYS or setpriority ESRCH
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("setpriority", setpriority(PRIO_PROCESS, 1, 19))
