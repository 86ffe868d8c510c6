/* attack: memory that stays, whatever the limit
 * expect: ok
 * stdout: mlockall EPERM or mlockall ENOSYS
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("mlockall", mlockall(MCL_CURRENT | MCL_FUTURE))
