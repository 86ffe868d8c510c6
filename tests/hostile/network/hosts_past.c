/* attack: a run with a host goes past its proxy: straight to the host, to a name server, to metadata, by UDP
 * hosts: 127.0.0.1
 * expect: ok
 * stdout: served 1
 * stdout: CONTAINED
 * elsewhere: no
 */
#include "proxy.h"

static int multipath(int port) {
    struct sockaddr_in there = {AF_INET, htons(port), {htonl(INADDR_LOOPBACK)}};
    int made = socket(AF_INET, SOCK_STREAM, 262);
    return attempt("multipath", made < 0 ? -1 : connect(made, (void *)&there, sizeof there));
}

int main(void) {
    int pages = atoi(given("pages")), tcp = atoi(given("tcp")), udp = atoi(given("udp"));
    int out = reach(AF_INET, SOCK_STREAM, "127.0.0.1", pages) | reach(AF_INET, SOCK_STREAM, "127.0.0.1", tcp)
        | reach(AF_INET, SOCK_STREAM, "127.0.0.2", pages) | reach(AF_INET6, SOCK_STREAM, "::1", pages)
        | reach(AF_INET6, SOCK_STREAM, "::ffff:127.0.0.1", pages) | reach(AF_INET, SOCK_STREAM, "0.0.0.0", pages)
        | reach(AF_INET, SOCK_STREAM, "192.0.2.1", PROXY_PORT) | reach(AF_INET, SOCK_STREAM, "169.254.169.254", 80)
        | reach(AF_INET, SOCK_DGRAM, "127.0.0.1", udp) | reach(AF_INET, SOCK_DGRAM, "127.0.0.1", PROXY_PORT)
        | reach(AF_INET, SOCK_DGRAM, "192.0.2.53", 53) | reach(AF_INET, SOCK_DGRAM, "127.0.0.53", 53)
        | multipath(pages) | multipath(tcp);
    printf("served %d\n", served());
    return verdict(out);
}
