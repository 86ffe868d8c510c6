/* attack: being the last to be killed
 * expect: ok
 * stdout: open EACCES or open EROFS or open ENOENT
 * stdout: CONTAINED
 * elsewhere: no
 */
#include "attack.h"

int main(void) { return verdict(attempt("open", open("/proc/self/oom_score_adj", O_WRONLY, 0666))); }
