/* attack: /dev/kmsg: the log of the kernel, as a device
 * expect: ok
 * stdout: open ENOENT or open EACCES or open ENXIO
 * stdout: CONTAINED
 */
#include "attack.h"

int main(void) { return verdict(attempt("open", open("/dev/kmsg", O_RDWR, 0666))); }
