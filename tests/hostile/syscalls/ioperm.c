/* attack: some ports of the machine
 * expect: seccomp_violation
 * names: ioperm
 * needs: x86_64
 */
#include "attack.h"

ONE_CALL("ioperm", syscall(SYS_ioperm, 0x80, 1, 1))
