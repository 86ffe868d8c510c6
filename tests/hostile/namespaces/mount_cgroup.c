/* attack: cgroupfs, whose v1 release_agent runs a program as root on the host
 * expect: seccomp_violation
 * names: mount
 */
#include "attack.h"

ONE_CALL("mount", mount("none", "/tmp", "cgroup2", 0, NULL))
