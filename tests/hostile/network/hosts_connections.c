/* attack: ten thousand connections to the proxy, a hundred at once and most of them silent
 * hosts: 127.0.0.1
 * expect: ok
 * stdout: asked 10000
 * stdout: served 1
 * stdout: CONTAINED
 * limits: time_sec=300
 * elsewhere: no
 */
#include "proxy.h"

int main(void) {
    struct sockaddr_in there = {AF_INET, htons(PROXY_PORT), {htonl(INADDR_LOOPBACK)}};
    int held[100], asked_for = 0;
    memset(held, -1, sizeof held);
    for (int at = 0; at < 10000; at++) {
        int *place = &held[at % 100];
        if (*place >= 0) close(*place);
        *place = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        /* Non-blocking: the proxy may be slow. */
        asked_for += connect(*place, (void *)&there, sizeof there) == 0 || errno == EINPROGRESS;
        if (at % 3 == 0 && send(*place, "GET http://", 11, MSG_NOSIGNAL) < 0) continue;
    }
    for (int at = 0; at < 100; at++)
        if (held[at] >= 0) close(held[at]);
    printf("asked %d\n", asked_for);
    /* The proxy notices the closed connections and has capacity again. */
    int again = 0;
    for (int tries = 0; tries < 50 && !(again = served()); tries++) sleep_ms(100);
    printf("served %d\n", again);
    return verdict(0);
}
