/* attack: setns(2), with a descriptor that is at hand
 * expect: seccomp_violation
 * names: setns
 */
#include "attack.h"

ONE_CALL("setns", setns(open("/proc/self/ns/net", O_RDONLY), 0))
