/* attack: more open files than a process may have
 * expect: ok
 * stdout: open EMFILE
 */
#include "attack.h"

int main(void) {
    int count = 0;
    while (count < 3100 && open("/dev/null", O_RDONLY) >= 0) count++;
    attempt("open", count < 3100 ? -1 : 0);
    return limited(count > 1024);
}
