/* attack: asynchronous input and output, the older kind
 * expect: ok
 * stdout: io_setup EPERM or io_setup ENOSYS
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("io_setup", syscall(SYS_io_setup, 8, (uint64_t[1]){0}))
