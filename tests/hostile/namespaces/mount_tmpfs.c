/* attack: a tmpfs over /tmp
 * expect: seccomp_violation
 * names: mount
 */
#include "attack.h"

ONE_CALL("mount", mount("none", "/tmp", "tmpfs", 0, NULL))
