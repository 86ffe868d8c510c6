/* attack: the ports of the machine
 * expect: seccomp_violation
 * names: iopl
 * needs: x86_64
 */
#include "attack.h"

ONE_CALL("iopl", syscall(SYS_iopl, 3))
