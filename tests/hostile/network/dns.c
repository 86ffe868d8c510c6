/* attack: a name server
 * expect: ok
 * stdout: connect ENETUNREACH or connect EACCES
 * stdout: CONTAINED
 */
#include "reach.h"

int main(void) { return verdict(reach(AF_INET, SOCK_DGRAM, "192.0.2.53", 53)); }
