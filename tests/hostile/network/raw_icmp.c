/* attack: a raw ICMP socket
 * expect: ok
 * stdout: socket EPERM
 * stdout: CONTAINED
 */
#include "attack.h"

ONE_CALL("socket", socket(AF_INET, SOCK_RAW, 1))
