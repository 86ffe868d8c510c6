/* attack: a connection by multipath TCP, which a check of TCP may not see
 * expect: ok
 * stdout: CONTAINED
 */
#include "attack.h"
#include <arpa/inet.h>
#include <netinet/in.h>

int main(void) {
    struct sockaddr_in to = {AF_INET, htons(atoi(given("tcp"))), {htonl(INADDR_LOOPBACK)}};
    int made = socket(AF_INET, SOCK_STREAM, 262);
    return verdict(attempt("connect", made < 0 ? -1 : connect(made, (void *)&to, sizeof to)));
}
