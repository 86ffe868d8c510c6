/* attack: another kernel
 * expect: seccomp_violation
 * names: kexec_load
 */
#include "attack.h"

ONE_CALL("kexec_load", syscall(SYS_kexec_load, 0, 17, NULL, 0xffff))
