/* attack: 0.0.0.0, which means this host
 * expect: ok
 * stdout: connect ENETUNREACH or connect EACCES
 * stdout: CONTAINED
 */
#include "reach.h"

int main(void) { return verdict(reach(AF_INET, SOCK_STREAM, "0.0.0.0", atoi(given("tcp")))); }
