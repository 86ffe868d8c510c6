/* attack: all processors of the host
 * expect: ok
 * stdout: sched_setaffinity EPERM
 * elsewhere: no
 */
#include "attack.h"

int main(void) {
    cpu_set_t all;
    memset(&all, 0xff, sizeof all);
    return closed(attempt("sched_setaffinity", sched_setaffinity(0, sizeof all, &all)));
}
