/* attack: becoming root
 * expect: ok
 * stdout: setuid EPERM or setuid EINVAL
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("setuid", setuid(0))
