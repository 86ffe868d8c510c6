/* attack: a server of the host on its loopback
 * expect: ok
 * stdout: connect ENETUNREACH or connect EACCES
 * stdout: CONTAINED
 */
#include "reach.h"

int main(void) { return verdict(reach(AF_INET, SOCK_STREAM, "127.0.0.1", atoi(given("tcp")))); }
