/* attack: an XDP socket
 * expect: ok
 * stdout: socket EPERM or socket EAFNOSUPPORT or socket ENOSYS
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("socket", socket(44 /* AF_XDP */, SOCK_RAW, 0))
