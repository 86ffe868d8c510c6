/* attack: the identity of the host
 * expect: ok
 * stdout: open ENOENT or open EACCES
 * stdout: CONTAINED
 */
#include "attack.h"

int main(void) { return verdict(attempt("open", open("/etc/machine-id", O_RDONLY, 0666))); }
