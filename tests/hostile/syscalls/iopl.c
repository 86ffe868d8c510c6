/* attack: the ports of the machine
 * expect: ok
 * stdout: iopl ENOSYS or iopl EPERM
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("iopl", syscall(SYS_iopl, 3))
