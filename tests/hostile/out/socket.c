/* attack: a socket
 * expect: output_rejected
 * rejects: socket socket
 */
#include "attack.h"

int main(void) {
    go_out();
    struct sockaddr_un name = {AF_UNIX, "socket"};
    attempt("bind", bind(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&name, sizeof name));
    return verdict(0);
}
