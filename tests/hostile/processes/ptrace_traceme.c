/* attack: asking to be traced
 * expect: seccomp_violation
 * names: ptrace
 */
#include "attack.h"
#include <sys/ptrace.h>

ONE_CALL("ptrace", ptrace(PTRACE_TRACEME, 0, 0, 0))
