/* attack: a tmpfs over /tmp
 * expect: seccomp_violation
 * names: mount
 * today: ok; mount EPERM
 */
#include "attack.h"

ONE_CALL("mount", mount("none", "/tmp", "tmpfs", 0, NULL))
