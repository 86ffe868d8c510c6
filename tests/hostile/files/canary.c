/* attack: a file that exists, that its mode lets everybody read, and that only Landlock keeps
 * expect: ok
 * stdout: open EACCES
 * stdout: CONTAINED
 * elsewhere: no
 */
#include "attack.h"

int main(void) { return verdict(attempt("open", open("/.canary", O_RDONLY, 0666))); }
