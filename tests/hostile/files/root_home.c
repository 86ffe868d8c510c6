/* attack: the home of root
 * expect: ok
 * stdout: open ENOENT or open EACCES
 * stdout: CONTAINED
 */
#include "attack.h"

int main(void) { return verdict(attempt("open", open("/root/.bashrc", O_RDONLY, 0666))); }
