/* attack: /dev/net/tun: a network interface
 * expect: ok
 * stdout: open ENOENT or open EACCES or open ENXIO
 * stdout: CONTAINED
 */
#include "attack.h"

int main(void) { return verdict(attempt("open", open("/dev/net/tun", O_RDWR, 0666))); }
