/* attack: taking loopback up
 * expect: ok
 * stdout: SIOCSIFFLAGS EPERM
 */
#include "attack.h"
#include <net/if.h>

int main(void) {
    struct ifreq ask = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    return closed(attempt("SIOCSIFFLAGS", ioctl(socket(AF_INET, SOCK_DGRAM, 0), SIOCSIFFLAGS, &ask)));
}
