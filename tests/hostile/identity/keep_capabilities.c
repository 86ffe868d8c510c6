/* attack: securebits that would keep capabilities
 * expect: ok
 * stdout: prctl EPERM
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("prctl", prctl(PR_SET_SECUREBITS, 0xf, 0, 0, 0))
