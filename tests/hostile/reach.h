/* Checks whether a network address can be reached: by a connection, or by two datagrams. */
#ifndef REACH_H
#define REACH_H
#include "attack.h"
#include <arpa/inet.h>
#include <netinet/in.h>

static int reach(int family, int kind, const char *address, int port) {
    int made = socket(family, kind, 0);
    struct sockaddr_in v4 = {AF_INET, htons(port)};
    struct sockaddr_in6 v6 = {AF_INET6, htons(port)};
    fcntl(made, F_SETFL, O_NONBLOCK);
    inet_pton(family, address, family == AF_INET ? (void *)&v4.sin_addr : (void *)&v6.sin6_addr);
    long answer = family == AF_INET ? connect(made, (void *)&v4, sizeof v4) : connect(made, (void *)&v6, sizeof v6);
    if (answer < 0 && errno == EINPROGRESS) {
        struct pollfd waited = {made, POLLOUT};
        int error = ETIMEDOUT;
        socklen_t length = sizeof error;
        if (poll(&waited, 1, 1000) > 0) getsockopt(made, SOL_SOCKET, SO_ERROR, &error, &length);
        errno = error;
        answer = error ? -1 : 0;
    }
    if (answer >= 0 && kind == SOCK_DGRAM) {
        /* Without a listener, the second one fails. */
        send(made, "x", 1, 0);
        sleep_ms(50);
        answer = send(made, "x", 1, 0);
    }
    return attempt("connect", answer);
}

#endif
