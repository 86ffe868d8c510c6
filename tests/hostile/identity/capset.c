/* attack: asking for a capability
 * expect: ok
 * stdout: capset EPERM
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("capset", syscall(SYS_capset, (uint32_t[2]){0x20080522, 0}, (uint32_t[6]){1 << 21, 1 << 21}))
