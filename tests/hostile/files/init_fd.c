/* attack: what pid 1 has open
 * expect: ok
 * stdout: open ENOENT or open EACCES
 * stdout: CONTAINED
 * elsewhere: no
 */
#include "attack.h"

int main(void) { return verdict(attempt("open", open("/proc/1/fd", O_RDONLY, 0666))); }
