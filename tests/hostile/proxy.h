/* Proxy requests of the cases with hosts: they send the bytes given and read the whole response.
 * The suite's own server answers each request with the bytes that it received.
 */
#ifndef PROXY_H
#define PROXY_H
#include "reach.h"

#define PROXY_PORT 3128

static int proxy_opened(void) {
    struct sockaddr_in there = {AF_INET, htons(PROXY_PORT), {htonl(INADDR_LOOPBACK)}};
    /* Longer than the server and a working proxy need for a response. */
    struct timeval most = {1, 500000};
    int made = socket(AF_INET, SOCK_STREAM, 0);
    if (made < 0) return -1;
    setsockopt(made, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    setsockopt(made, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
    if (connect(made, (void *)&there, sizeof there) == 0) return made;
    int error = errno;
    close(made);
    errno = error;
    return -1;
}

/* Returns the proxy's response to these bytes, with PORT replaced by the server's port. */
static const char *asked(const char *request) {
    static char answer[65536];
    char bytes[32768];
    size_t length = 0, port = strlen(given("pages"));
    for (; *request && length + 8 < sizeof bytes; request++)
        if (!strncmp(request, "PORT", 4)) {
            memcpy(bytes + length, given("pages"), port);
            length += port;
            request += 3;
        } else
            bytes[length++] = *request;
    size_t got = 0;
    ssize_t more;
    int made = proxy_opened();
    if (made >= 0 && send(made, bytes, length, MSG_NOSIGNAL) == (ssize_t)length) {
        while (got < sizeof answer - 1 && (more = read(made, answer + got, sizeof answer - 1 - got)) > 0) got += more;
    }
    if (made >= 0) close(made);
    answer[got] = 0;
    return answer;
}

/* Returns the status code of the response, or 0 without one. */
static int status_of(const char *answer) { return strncmp(answer, "HTTP/1.1 ", 9) ? 0 : atoi(answer + 9); }

/* A response can come too late on a busy host. */
enum { TRIES = 4 };

/* Returns the status code of the first response to these bytes, or 0 without one. */
static int status_in_tries(const char *request) {
    int status = 0;
    for (int tries = 0; tries < TRIES && !status; tries++) status = status_of(asked(request));
    return status;
}

/* Returns 1 if the proxy still serves a valid request. */
static int served(void) {
    const char *valid = "GET http://127.0.0.1:PORT/ HTTP/1.1\r\nConnection: close\r\n\r\n";
    int done = 0;
    for (int tries = 0; tries < TRIES && !done; tries++) done = status_of(asked(valid)) == 200;
    return done;
}

#endif
