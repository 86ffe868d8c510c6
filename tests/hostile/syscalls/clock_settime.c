/* attack: setting the clock of the host (to what it is)
 * expect: ok
 * stdout: clock_settime EPERM
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("clock_settime", clock_settime(CLOCK_REALTIME, (struct timespec[]){{time(NULL), 0}}))
