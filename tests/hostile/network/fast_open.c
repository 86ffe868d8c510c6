/* attack: a connection that is made by sending (MSG_FASTOPEN), not by connect(2)
 * expect: ok
 * stdout: sendto ENETUNREACH or sendto EACCES or sendto EOPNOTSUPP
 */
#include "attack.h"
#include <arpa/inet.h>
#include <netinet/in.h>

int main(void) {
    struct sockaddr_in to = {AF_INET, htons(atoi(given("tcp"))), {htonl(INADDR_LOOPBACK)}};
    int made = socket(AF_INET, SOCK_STREAM, 0);
    long answer = sendto(made, "x", 1, MSG_FASTOPEN, (void *)&to, sizeof to);
    return verdict(attempt("sendto", answer));
}
