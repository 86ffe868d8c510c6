/* attack: the metadata service of a cloud, which hands out keys
 * expect: ok
 * stdout: connect ENETUNREACH or connect EACCES
 * stdout: CONTAINED
 */
#include "reach.h"

int main(void) { return verdict(reach(AF_INET, SOCK_STREAM, "169.254.169.254", 80)); }
