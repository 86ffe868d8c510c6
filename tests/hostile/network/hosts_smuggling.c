/* attack: a second request inside a request, by lengths that can be read in two ways
 * hosts: 127.0.0.1
 * expect: ok
 * stdout: served 1
 * stdout: CONTAINED
 * limits: time_sec=30
 * elsewhere: no
 */
#include "proxy.h"

int main(void) {
    const char *framings[] = {
        "Content-Length: 4\r\nContent-Length: 60\r\n\r\nbody",
        "Content-Length: 60\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 60\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        "X: a\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    };
    int seen = 0;
    for (size_t at = 0; at < sizeof framings / sizeof *framings; at++) {
        char request[1024];
        snprintf(request, sizeof request,
                 "POST http://127.0.0.1:PORT/ HTTP/1.1\r\n%sGET /hidden HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n",
                 framings[at]);
        const char *answer = asked(request);
        printf("%zu %d\n", at, status_of(answer));
        /* The server returns the bytes it received. */
        seen |= strstr(answer, "GET /hidden") != NULL && status_of(answer) == 200;
    }
    printf("served %d\n", served());
    return verdict(seen);
}
