/* attack: slewing the clock of the host (by nothing)
 * expect: ok
 * stdout: clock_adjtime EPERM
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("clock_adjtime", syscall(SYS_clock_adjtime, CLOCK_REALTIME, (uint64_t[32]){0x4000 /* tick */, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10000}))
