/* attack: /dev/fuse: a file system served by itself
 * expect: ok
 * stdout: open ENOENT or open EACCES or open ENXIO
 * stdout: CONTAINED
 */
#include "attack.h"

int main(void) { return verdict(attempt("open", open("/dev/fuse", O_RDWR, 0666))); }
