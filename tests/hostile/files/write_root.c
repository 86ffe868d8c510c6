/* attack: a new file in the root directory
 * expect: ok
 * stdout: open EROFS or open EACCES
 * stdout: CONTAINED
 * elsewhere: no
 */
#include "attack.h"

int main(void) { return verdict(attempt("open", open("/new", O_WRONLY | O_CREAT, 0666))); }
