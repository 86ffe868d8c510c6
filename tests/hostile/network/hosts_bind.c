/* attack: a second listener at the proxy's place, to answer for it or to see what it is asked
 * hosts: 127.0.0.1
 * expect: ok
 * stdout: served 1
 * stdout: CONTAINED
 * elsewhere: no
 */
#include "proxy.h"

/* Multipath TCP (262) uses the same ports, and a check for TCP may miss it. */
static int taken(const char *name, int family, int protocol) {
    int made = socket(family, SOCK_STREAM, protocol), yes = 1;
    struct sockaddr_in v4 = {AF_INET, htons(PROXY_PORT), {htonl(INADDR_LOOPBACK)}};
    struct sockaddr_in6 v6 = {AF_INET6, htons(PROXY_PORT)};
    setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    setsockopt(made, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes);
    long bound = family == AF_INET ? bind(made, (void *)&v4, sizeof v4) : bind(made, (void *)&v6, sizeof v6);
    return attempt(name, bound < 0 ? bound : listen(made, 8));
}

int main(void) {
    int escaped = taken("v4", AF_INET, 0) | taken("v6", AF_INET6, 0) | taken("mptcp", AF_INET, 262);
    printf("served %d\n", served());
    return verdict(escaped);
}
