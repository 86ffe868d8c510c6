/* attack: a UTS namespace by unshare(2)
 * expect: seccomp_violation
 * names: unshare
 */
#include "attack.h"

ONE_CALL("unshare", unshare(CLONE_NEWUTS))
