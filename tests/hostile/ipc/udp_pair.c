/* attack: a UDP port between two runs
 * expect: ok
 * stdout: CONTAINED
 * together: 2
 */
#include "attack.h"
#include <arpa/inet.h>
#include <netinet/in.h>

int main(void) {
    struct sockaddr_in here = {AF_INET, htons(47812), {htonl(INADDR_LOOPBACK)}};
    int made = socket(AF_INET, SOCK_DGRAM, 0), taken = 0;
    if (!attempt("bind", bind(made, (void *)&here, sizeof here))) taken = errno == EADDRINUSE;
    sleep_ms(1000);
    return verdict(taken);
}
