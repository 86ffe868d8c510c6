/* attack: a bind mount of / on /tmp
 * expect: seccomp_violation
 * names: mount
 */
#include "attack.h"

ONE_CALL("mount", mount("/", "/tmp", NULL, MS_BIND | MS_REC, NULL))
