/* attack: a key socket of IPsec
 * expect: ok
 * stdout: socket EPERM or socket EAFNOSUPPORT or socket ENOSYS
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("socket", socket(AF_KEY, SOCK_RAW, 2))
