/* attack: becoming another tool's user
 * expect: ok
 * stdout: setresuid EPERM or setresuid EINVAL
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("setresuid", setresuid(getuid() + 1, getuid() + 1, getuid() + 1))
