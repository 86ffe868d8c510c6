/* attack: changing an input
 * expect: ok
 * stdout: open EROFS or open EACCES
 * stdout: CONTAINED
 */
#include "attack.h"

int main(void) { return verdict(attempt("open", open("/in/script.py", O_WRONLY, 0666))); }
