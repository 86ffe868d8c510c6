/* attack: the ports of the machine
 * expect: seccomp_violation
 * names: iopl
 * today: ok; iopl ENOSYS
 * needs: x86_64
 */
#include "attack.h"

ONE_CALL("iopl", syscall(SYS_iopl, 3))
