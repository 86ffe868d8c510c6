/* attack: opening /dev/stdout, which is allowed
 * expect: ok
 * stdout: open DONE
 * stdout: again
 * elsewhere: no
 */
#include "attack.h"

int main(void) {
    int file = open("/dev/stdout", O_WRONLY);
    attempt("open", file);
    dprintf(file, "again\n");
    return verdict(0);
}
