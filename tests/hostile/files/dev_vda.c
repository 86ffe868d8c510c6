/* attack: /dev/vda: the disk of the host
 * expect: ok
 * stdout: open ENOENT or open EACCES or open ENXIO
 * stdout: CONTAINED
 */
#include "attack.h"

int main(void) { return verdict(attempt("open", open("/dev/vda", O_RDWR, 0666))); }
