/* attack: a netlink socket, the way to routes and interfaces
 * expect: ok
 * stdout: socket EPERM or socket EAFNOSUPPORT or socket ENOSYS
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("socket", socket(AF_NETLINK, SOCK_RAW, 0))
