/* attack: 16-bit segments, an old source of holes
 * expect: ok
 * stdout: modify_ldt ENOSYS or modify_ldt EPERM
 * stdout: CONTAINED
 * needs: x86_64
 */
#include "attack.h"

ONE_CALL("modify_ldt", syscall(SYS_modify_ldt, 1, (uint32_t[4]){0, 0, 0, 0}, 16))
