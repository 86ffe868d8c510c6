/* attack: a full /proc over the small one
 * expect: seccomp_violation
 * names: mount
 */
#include "attack.h"

ONE_CALL("mount", mount("none", "/proc", "proc", 0, NULL))
