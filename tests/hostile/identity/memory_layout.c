/* attack: moving where its own command line is said to be
 * expect: ok
 * stdout: prctl EPERM or prctl EACCES or prctl EINVAL
 */
#include "attack.h"

int main(void) { return closed(attempt("prctl", prctl(PR_SET_MM, PR_SET_MM_EXE_FILE, 0, 0, 0))); }
