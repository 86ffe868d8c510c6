/* attack: attaching to pid 1 of the sandbox
 * expect: seccomp_violation
 * names: ptrace
 */
#include "attack.h"
#include <sys/ptrace.h>

ONE_CALL("ptrace", ptrace(PTRACE_SEIZE, 1, 0, 0))
