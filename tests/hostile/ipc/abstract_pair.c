/* attack: an abstract socket between two runs: one of them finds the name taken
 * expect: ok
 * stdout: bind DONE
 * together: 2
 */
#include "attack.h"

int main(void) {
    struct sockaddr_un name = {AF_UNIX, "\0toolexec-hostile-pair"};
    int made = socket(AF_UNIX, SOCK_DGRAM, 0);
    int alone = attempt("bind", bind(made, (void *)&name, sizeof name));
    sleep_ms(1000);
    return verdict(!alone);
}
