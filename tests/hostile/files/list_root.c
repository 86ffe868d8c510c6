/* attack: the list of the root directory
 * expect: ok
 * stdout: open EACCES
 * stdout: CONTAINED
 * elsewhere: no
 */
#include "attack.h"

int main(void) { return verdict(attempt("open", open("/", O_RDONLY, 0666))); }
