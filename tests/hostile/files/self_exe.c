/* attack: writing to the program that runs (CVE-2019-5736)
 * expect: ok
 * stdout: open ETXTBSY or open EACCES or open EROFS
 * stdout: CONTAINED
 */
#include "attack.h"

int main(void) { return verdict(attempt("open", open("/proc/self/exe", O_WRONLY, 0666))); }
