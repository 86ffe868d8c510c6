/* attack: the addresses of the kernel
 * expect: ok
 * stdout: open ENOENT or open EACCES
 * stdout: CONTAINED
 * elsewhere: no
 */
#include "attack.h"

int main(void) { return verdict(attempt("open", open("/proc/kallsyms", O_RDONLY, 0666))); }
