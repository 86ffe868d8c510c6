/* attack: a remount of /usr that takes read-only away
 * expect: seccomp_violation
 * names: mount
 */
#include "attack.h"

ONE_CALL("mount", mount(NULL, "/usr", NULL, MS_REMOUNT | MS_BIND, NULL))
