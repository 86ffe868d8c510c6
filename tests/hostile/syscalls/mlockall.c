/* attack: memory that stays, beyond the limit
 * expect: ok
 * stdout: mlockall EPERM or mlockall ENOSYS
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("mlockall", mlockall(MCL_CURRENT | MCL_FUTURE))
