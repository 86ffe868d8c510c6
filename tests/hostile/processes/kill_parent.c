/* attack: killing its parent
 * expect: ok
 * stdout: the parent lives
 * elsewhere: no
 */
#include "attack.h"

int main(void) {
    pid_t parent = getppid();
    kill(parent, SIGKILL);
    kill(parent, SIGSTOP);
    sleep_ms(50);
    puts(getppid() == parent ? "the parent lives" : "the parent is gone");
    return verdict(0);
}
