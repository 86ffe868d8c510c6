/* attack: a new file in the runtime
 * expect: ok
 * stdout: open EROFS or open EACCES
 * stdout: CONTAINED
 */
#include "attack.h"

int main(void) { return verdict(attempt("open", open("/usr/bin/new", O_WRONLY | O_CREAT, 0666))); }
