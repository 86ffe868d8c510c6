/* attack: memory that not even the kernel can look at
 * expect: ok
 * stdout: memfd_secret EPERM or memfd_secret ENOSYS
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("memfd_secret", syscall(SYS_memfd_secret, 0))
