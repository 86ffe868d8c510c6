/* attack: leaving pid 1 of the sandbox without descriptors
 * expect: ok
 * stdout: prlimit EPERM or prlimit ENOSYS
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("prlimit", prlimit(1, RLIMIT_NOFILE, (struct rlimit[]){{0, 0}}, NULL))
