/* attack: a run with a host asks for sockets and options that reach below TCP, or that leave its network
 * hosts: 127.0.0.1
 * expect: ok
 * stdout: served 1
 * stdout: CONTAINED
 * elsewhere: no
 */
#include "proxy.h"

static int set(const char *name, int level, int option, int value) {
    int made = socket(AF_INET, SOCK_STREAM, 0);
    long answer = setsockopt(made, level, option, &value, sizeof value);
    int error = errno;
    close(made);
    errno = error;
    return attempt(name, answer);
}

int main(void) {
    int open = attempt("raw", socket(AF_INET, SOCK_RAW, IPPROTO_TCP)) | attempt("raw6", socket(AF_INET6, SOCK_RAW, IPPROTO_TCP))
        | attempt("packet", socket(AF_PACKET, SOCK_RAW, 0)) | attempt("vsock", socket(AF_VSOCK, SOCK_STREAM, 0))
        | attempt("alg", socket(AF_ALG, SOCK_SEQPACKET, 0))
        | attempt("sctp", socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP)) | set("transparent", SOL_IP, IP_TRANSPARENT, 1)
        | set("mark", SOL_SOCKET, SO_MARK, 1) | set("force", SOL_SOCKET, SO_RCVBUFFORCE, 1 << 30);
    printf("served %d\n", served());
    return closed(open);
}
