/* attack: disk quotas of the host
 * expect: ok
 * stdout: quotactl EPERM
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("quotactl", syscall(SYS_quotactl, 0x80000100 /* sync */, NULL, 0, NULL))
