/* attack: another kernel from a file
 * expect: seccomp_violation
 * names: kexec_file_load
 */
#include "attack.h"

ONE_CALL("kexec_file_load", syscall(SYS_kexec_file_load, 0, -1, 0, NULL, 4))
