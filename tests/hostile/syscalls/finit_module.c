/* attack: a kernel module from a file
 * expect: seccomp_violation
 * names: finit_module
 */
#include "attack.h"

ONE_CALL("finit_module", syscall(SYS_finit_module, 0, "", 0))
