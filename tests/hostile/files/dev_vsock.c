/* attack: /dev/vsock: the hypervisor
 * expect: ok
 * stdout: open ENOENT or open EACCES or open ENXIO
 * stdout: CONTAINED
 */
#include "attack.h"

int main(void) { return verdict(attempt("open", open("/dev/vsock", O_RDWR, 0666))); }
