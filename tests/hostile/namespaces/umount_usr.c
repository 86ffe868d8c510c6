/* attack: unmounting what covers the host
 * expect: seccomp_violation
 * names: umount2
 */
#include "attack.h"

ONE_CALL("umount2", umount2("/usr", MNT_DETACH))
