/* attack: a real-time priority
 * expect: ok
 * stdout: sched_setscheduler EPERM
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("sched_setscheduler", sched_setscheduler(0, SCHED_FIFO, (struct sched_param[]){{50}}))
