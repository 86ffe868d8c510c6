/* attack: the name of the host
 * expect: ok
 * stdout: CONTAINED
 */
#include "attack.h"

int main(void) {
    char here[256] = {0};
    gethostname(here, sizeof here - 1);
    return closed(!strcmp(here, given("hostname")));
}
