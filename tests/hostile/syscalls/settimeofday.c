/* attack: setting the clock of the host (to what it is)
 * expect: ok
 * stdout: settimeofday EPERM
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("settimeofday", settimeofday((struct timeval[]){{time(NULL), 0}}, NULL))
