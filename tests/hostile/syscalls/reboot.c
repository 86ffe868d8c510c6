/* attack: switching the machine off (with a number that does nothing)
 * expect: seccomp_violation
 * names: reboot
 */
#include "attack.h"

ONE_CALL("reboot", syscall(SYS_reboot, 0xfee1dead, 672274793, 0x0badcafe, 0) < 0 && errno == EPERM ? -1 : 0)
