/* attack: a Bluetooth socket
 * expect: ok
 * stdout: socket EPERM or socket EAFNOSUPPORT or socket ENOSYS
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("socket", socket(AF_BLUETOOTH, SOCK_RAW, 1))
