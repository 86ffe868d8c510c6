/* attack: being served by the disks before all other processes
 * expect: ok
 * stdout: ioprio_set EPERM or ioprio_set ENOSYS
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("ioprio_set", syscall(SYS_ioprio_set, 1, 0, 1 << 13))
