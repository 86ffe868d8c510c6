/* attack: a full /proc over the small one
 * expect: seccomp_violation
 * names: mount
 * today: ok; mount EPERM
 */
#include "attack.h"

ONE_CALL("mount", mount("none", "/proc", "proc", 0, NULL))
