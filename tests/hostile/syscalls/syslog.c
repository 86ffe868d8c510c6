/* attack: the log of the kernel
 * expect: ok
 * stdout: syslog EPERM
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("syslog", syscall(SYS_syslog, 3, (char[64]){0}, 64))
