/* attack: climbing out of /in
 * expect: ok
 * stdout: open ENOENT or open EACCES
 * stdout: CONTAINED
 */
#include "attack.h"

int main(void) { return verdict(attempt("open", open("/in/../../../../etc/shadow", O_RDONLY, 0666))); }
