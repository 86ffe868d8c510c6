/* attack: a socket to the hypervisor, which no network namespace divides
 * expect: ok
 * stdout: socket EPERM or socket EAFNOSUPPORT or socket ENOSYS
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("socket", socket(AF_VSOCK, SOCK_STREAM, 0))
