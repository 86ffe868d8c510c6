/* attack: a call that no kernel has yet
 * expect: ok
 * stdout: call_9999 ENOSYS
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("call_9999", syscall(9999))
