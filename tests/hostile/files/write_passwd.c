/* attack: an account of its own
 * expect: ok
 * stdout: open EROFS or open EACCES or open ENOENT
 * stdout: CONTAINED
 */
#include "attack.h"

int main(void) { return verdict(attempt("open", open("/etc/passwd", O_WRONLY | O_APPEND, 0666))); }
