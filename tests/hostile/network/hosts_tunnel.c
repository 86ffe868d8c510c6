/* attack: a tunnel to the run's host carries bytes that are not TLS, or another proxy's request
 * hosts: 127.0.0.1
 * expect: ok
 * stdout: plain 0
 * stdout: nested 0
 * stdout: served 1
 * stdout: CONTAINED
 * names: sni
 * elsewhere: no
 */
#include "proxy.h"

/* Returns 1 if bytes of the server follow the response of the tunnel. */
static int passed(const char *what) {
    char request[512];
    snprintf(request, sizeof request, "CONNECT 127.0.0.1:PORT HTTP/1.1\r\n\r\n%s", what);
    const char *end = strstr(asked(request), "\r\n\r\n");
    return end && strstr(end + 4, "HTTP/") != NULL;
}

int main(void) {
    int plain = passed("GET / HTTP/1.1\r\n\r\n");
    int nested = passed("CONNECT localhost:22 HTTP/1.1\r\n\r\n");
    printf("plain %d\nnested %d\nserved %d\n", plain, nested, served());
    return verdict(plain || nested);
}
