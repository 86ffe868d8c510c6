/* attack: a BPF map
 * expect: seccomp_violation
 * names: bpf
 */
#include "attack.h"

ONE_CALL("bpf", syscall(SYS_bpf, 0, (uint32_t[16]){2, 4, 4, 1}, 64))
