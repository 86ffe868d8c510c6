/* attack: a time namespace by unshare(2)
 * expect: seccomp_violation
 * names: unshare
 */
#include "attack.h"

ONE_CALL("unshare", unshare(0x80))
