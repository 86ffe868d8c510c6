/* attack: a file that exists, that every user may read by its mode, and that only Landlock keeps
 * expect: ok
 * stdout: open EACCES
 * stdout: CONTAINED
 * elsewhere: no
 */
#include "attack.h"

int main(void) { return verdict(attempt("open", open("/.canary", O_RDONLY, 0666))); }
