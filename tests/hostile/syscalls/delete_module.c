/* attack: unloading a kernel module
 * expect: seccomp_violation
 * names: delete_module
 */
#include "attack.h"

ONE_CALL("delete_module", syscall(SYS_delete_module, "toolexec-none", O_NONBLOCK))
