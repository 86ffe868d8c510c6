/* attack: the memory of pid 1
 * expect: ok
 * stdout: open ENOENT or open EACCES
 * stdout: CONTAINED
 * elsewhere: no
 */
#include "attack.h"

int main(void) { return verdict(attempt("open", open("/proc/1/mem", O_RDWR, 0666))); }
