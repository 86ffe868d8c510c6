/* attack: the name of the host
 * expect: ok
 * stdout: sethostname EPERM
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("sethostname", sethostname("toolexec", 8))
