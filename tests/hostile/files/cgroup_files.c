/* attack: the control groups, to change its limits
 * expect: ok
 * stdout: open ENOENT or open EACCES or open EROFS
 * stdout: CONTAINED
 */
#include "attack.h"

int main(void) { return verdict(attempt("open", open("/sys/fs/cgroup/cgroup.procs", O_WRONLY, 0666))); }
