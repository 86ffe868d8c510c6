/* attack: unmounting what covers the host
 * expect: seccomp_violation
 * names: umount2
 * today: ok; umount2 EPERM
 */
#include "attack.h"

ONE_CALL("umount2", umount2("/usr", MNT_DETACH))
