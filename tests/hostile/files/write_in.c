/* attack: a new file among the inputs
 * expect: ok
 * stdout: open EROFS or open EACCES
 * stdout: CONTAINED
 */
#include "attack.h"

int main(void) { return verdict(attempt("open", open("/in/new", O_WRONLY | O_CREAT, 0666))); }
