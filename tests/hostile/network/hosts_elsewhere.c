/* attack: a run with a host asks its proxy for others: names, ports, literals, other spellings
 * hosts: 127.0.0.1
 * expect: ok
 * stdout: served 1
 * stdout: CONTAINED
 * names: userinfo
 * elsewhere: no
 */
#include "proxy.h"

int main(void) {
    const char *wanted[] = {
        "GET http://127.0.0.1:%s/ HTTP/1.1\r\nConnection: close\r\n\r\n",
        "GET http://127.0.0.1:%s@127.0.0.1:PORT/ HTTP/1.1\r\nConnection: close\r\n\r\n",
        "GET http://user:word@127.0.0.1:PORT/?%s HTTP/1.1\r\nConnection: close\r\n\r\n",
        "GET http://[::1]:PORT/?%s HTTP/1.1\r\nConnection: close\r\n\r\n",
        "GET http://127.1:PORT/?%s HTTP/1.1\r\nConnection: close\r\n\r\n",
        "GET http://2130706433:PORT/?%s HTTP/1.1\r\nConnection: close\r\n\r\n",
        "GET http://0x7f.1:PORT/?%s HTTP/1.1\r\nConnection: close\r\n\r\n",
        "GET http://localhost:PORT/?%s HTTP/1.1\r\nConnection: close\r\n\r\n",
        "GET http://169.254.169.254/?%s HTTP/1.1\r\nConnection: close\r\n\r\n",
        "GET http://127.0.0.1:PORT/?%s HTTP/1.1\r\nConnection: close\r\nHost: localhost:PORT\r\n\r\n",
        "GET http://127.0.0.1:PORT/?%s HTTP/1.1\r\nConnection: close\r\nHost: 127.0.0.1:PORT\r\nHost: localhost\r\n\r\n",
        "CONNECT 127.0.0.1:%s HTTP/1.1\r\nConnection: close\r\n\r\n",
        "CONNECT [::ffff:127.0.0.1]:%s HTTP/1.1\r\nConnection: close\r\n\r\n",
        "CONNECT localhost:PORT HTTP/1.1\r\nConnection: close\r\nX: %s\r\n\r\n",
        "GET /?%s HTTP/1.1\r\nConnection: close\r\nHost: 127.0.0.1:PORT\r\n\r\n",
    };
    int through = 0;
    for (size_t at = 0; at < sizeof wanted / sizeof *wanted; at++) {
        char request[512], tcp[16];
        snprintf(tcp, sizeof tcp, "%s", given("tcp"));
        snprintf(request, sizeof request, wanted[at], tcp);
        int status = status_in_tries(request);
        printf("%zu %d\n", at, status);
        through |= status != 403;
    }
    printf("served %d\n", served());
    return verdict(through);
}
