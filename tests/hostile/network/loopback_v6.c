/* attack: loopback by IPv6
 * expect: ok
 * stdout: connect ENETUNREACH or connect EACCES or connect EADDRNOTAVAIL
 * stdout: CONTAINED
 */
#include "reach.h"

int main(void) { return verdict(reach(AF_INET6, SOCK_STREAM, "::1", atoi(given("tcp")))); }
