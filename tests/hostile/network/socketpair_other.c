/* attack: a protocol that the kernel would load a module for, by socketpair(2)
 * expect: ok
 * stdout: socketpair EAFNOSUPPORT or socketpair EOPNOTSUPP or socketpair EPERM
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("socketpair", socketpair(30 /* AF_TIPC */, SOCK_SEQPACKET, 0, (int[2]){0}))
