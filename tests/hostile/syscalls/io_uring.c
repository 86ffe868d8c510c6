/* attack: io_uring, whose operations no filter sees
 * expect: ok
 * stdout: io_uring_setup EPERM or io_uring_setup ENOSYS
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("io_uring_setup", syscall(SYS_io_uring_setup, 8, (char[120]){0}))
