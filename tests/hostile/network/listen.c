/* attack: a server that others could reach
 * expect: ok
 * stdout: CONTAINED
 */
#include "attack.h"
#include <arpa/inet.h>
#include <netinet/in.h>

int main(void) {
    struct sockaddr_in here = {AF_INET, htons(47811), {htonl(INADDR_ANY)}};
    int made = socket(AF_INET, SOCK_STREAM, 0);
    attempt("bind", bind(made, (void *)&here, sizeof here));
    attempt("listen", listen(made, 1));
    /* No client can connect: no interface is up. */
    return verdict(0);
}
