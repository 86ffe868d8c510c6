/* attack: the password hashes of the host
 * expect: ok
 * stdout: open ENOENT or open EACCES
 * stdout: CONTAINED
 */
#include "attack.h"

int main(void) { return verdict(attempt("open", open("/etc/shadow", O_RDONLY, 0666))); }
