/* attack: the same by UDP
 * expect: ok
 * stdout: connect ENETUNREACH or connect EACCES
 * stdout: CONTAINED
 */
#include "reach.h"

int main(void) { return verdict(reach(AF_INET, SOCK_DGRAM, "127.0.0.1", atoi(given("udp")))); }
