/* attack: an IPv4 address in IPv6
 * expect: ok
 * stdout: connect ENETUNREACH or connect EACCES
 * stdout: CONTAINED
 */
#include "reach.h"

int main(void) { return verdict(reach(AF_INET6, SOCK_STREAM, "::ffff:127.0.0.1", atoi(given("tcp")))); }
