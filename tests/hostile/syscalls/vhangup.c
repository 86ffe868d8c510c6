/* attack: hanging up the terminal of the host
 * expect: ok
 * stdout: vhangup EPERM
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("vhangup", syscall(SYS_vhangup))
