/* attack: a performance counter of its own
 * expect: seccomp_violation
 * names: perf_event_open
 */
#include "attack.h"

ONE_CALL("perf_event_open", syscall(SYS_perf_event_open, (uint32_t[32]){1 /* software */, 128}, 0, -1, -1, 0))
