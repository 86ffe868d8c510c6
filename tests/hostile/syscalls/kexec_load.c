/* attack: another kernel
 * expect: seccomp_violation
 * names: kexec_load
 * today: ok; kexec_load EPERM
 */
#include "attack.h"

ONE_CALL("kexec_load", syscall(SYS_kexec_load, 0, 17, NULL, 0xffff))
