/* attack: an address of the internet
 * expect: ok
 * stdout: connect ENETUNREACH or connect EACCES
 * stdout: CONTAINED
 */
#include "reach.h"

int main(void) { return verdict(reach(AF_INET, SOCK_STREAM, "192.0.2.1", 443)); }
