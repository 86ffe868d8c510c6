/* attack: a user namespace, the first step of most kernel exploits
 * expect: seccomp_violation
 * names: unshare
 */
#include "attack.h"

ONE_CALL("unshare", unshare(CLONE_NEWUSER))
