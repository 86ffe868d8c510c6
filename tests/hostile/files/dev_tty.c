/* attack: /dev/tty: the terminal of who started it
 * expect: ok
 * stdout: open ENOENT or open EACCES or open ENXIO
 * stdout: CONTAINED
 * elsewhere: no
 */
#include "attack.h"

int main(void) { return verdict(attempt("open", open("/dev/tty", O_RDWR, 0666))); }
