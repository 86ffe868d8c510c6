/* attack: a host whose name leads to this host's loopback, in a policy that does not say so; a resolver that knows it only from a file finds nothing
 * hosts: 127.0.0.1 localhost
 * expect: ok
 * stdout: plain 403 or plain 502
 * stdout: tunnel 403 or tunnel 502
 * stdout: served 1
 * stdout: CONTAINED
 * elsewhere: no
 */
#include "proxy.h"

int main(void) {
    int plain = status_in_tries("GET http://localhost:PORT/ HTTP/1.1\r\nConnection: close\r\n\r\n");
    int tunnel = status_in_tries("CONNECT localhost:PORT HTTP/1.1\r\nConnection: close\r\n\r\n");
    printf("plain %d\ntunnel %d\nserved %d\n", plain, tunnel, served());
    return verdict(plain == 200 || tunnel == 200);
}
