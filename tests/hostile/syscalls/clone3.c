/* attack: a user namespace by clone3(2), whose flags no filter can read
 * expect: ok
 * stdout: clone3 ENOSYS
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("clone3", syscall(SYS_clone3, (uint64_t[11]){CLONE_NEWUSER, 0, 0, 0, SIGCHLD}, 88))
