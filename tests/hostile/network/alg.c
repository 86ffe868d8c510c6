/* attack: the crypto of the kernel, an old source of holes
 * expect: ok
 * stdout: socket EPERM or socket EAFNOSUPPORT or socket ENOSYS
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("socket", socket(AF_ALG, SOCK_SEQPACKET, 0))
