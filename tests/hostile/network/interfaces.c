/* attack: the interfaces that there are: only loopback, and it is down
 * expect: ok
 * stdout: lo down
 */
#include "attack.h"
#include <net/if.h>

/* Under another launcher its own loopback may be up. */
int main(void) {
    int made = socket(AF_INET, SOCK_DGRAM, 0), others = 0;
    for (int index = 1; index < 64; index++) {
        struct ifreq ask = {.ifr_ifindex = index};
        if (ioctl(made, SIOCGIFNAME, &ask) < 0) continue;
        ioctl(made, SIOCGIFFLAGS, &ask);
        printf("%s %s\n", ask.ifr_name, ask.ifr_flags & IFF_UP ? "up" : "down");
        others += strcmp(ask.ifr_name, "lo") && ask.ifr_flags & IFF_UP;
    }
    return verdict(others);
}
