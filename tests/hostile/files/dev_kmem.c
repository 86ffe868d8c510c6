/* attack: /dev/kmem: the memory of the kernel, as a device
 * expect: ok
 * stdout: open ENOENT or open EACCES or open ENXIO
 * stdout: CONTAINED
 */
#include "attack.h"

int main(void) { return verdict(attempt("open", open("/dev/kmem", O_RDWR, 0666))); }
