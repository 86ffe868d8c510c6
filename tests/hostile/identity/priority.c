/* attack: running before all other processes
 * expect: ok
 * stdout: setpriority EACCES or setpriority EPERM
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("setpriority", setpriority(PRIO_PROCESS, 0, -20))
