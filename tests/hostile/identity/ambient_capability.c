/* attack: an ambient capability, which exec would keep
 * expect: ok
 * stdout: prctl EPERM
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("prctl", prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, 21, 0, 0))
