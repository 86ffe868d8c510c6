/* attack: a root of its own by chroot(2), the old way out of a chroot
 * expect: seccomp_violation
 * names: chroot
 */
#include "attack.h"

ONE_CALL("chroot", chroot("/tmp"))
