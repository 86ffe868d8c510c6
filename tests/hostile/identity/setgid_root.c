/* attack: becoming the group root
 * expect: ok
 * stdout: setgid EPERM or setgid EINVAL
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("setgid", setgid(0))
