/* attack: the environment of pid 1
 * expect: ok
 * stdout: open ENOENT or open EACCES
 * stdout: CONTAINED
 * elsewhere: no
 */
#include "attack.h"

int main(void) { return verdict(attempt("open", open("/proc/1/environ", O_RDONLY, 0666))); }
