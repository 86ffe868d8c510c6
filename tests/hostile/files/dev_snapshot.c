/* attack: /dev/snapshot: an image of the memory
 * expect: ok
 * stdout: open ENOENT or open EACCES or open ENXIO
 * stdout: CONTAINED
 */
#include "attack.h"

int main(void) { return verdict(attempt("open", open("/dev/snapshot", O_RDWR, 0666))); }
