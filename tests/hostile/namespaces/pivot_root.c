/* attack: a root of its own by pivot_root(2)
 * expect: seccomp_violation
 * names: pivot_root
 */
#include "attack.h"

ONE_CALL("pivot_root", syscall(SYS_pivot_root, ".", "."))
