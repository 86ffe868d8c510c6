/* attack: a kernel module
 * expect: seccomp_violation
 * names: init_module
 */
#include "attack.h"

ONE_CALL("init_module", syscall(SYS_init_module, "", 0, ""))
