/* attack: four hundred orphans, one after the other: pid 1 must reap them or the limit is reached
 * expect: ok
 * stdout: forked them all
 * within: 10
 */
#include "attack.h"

int main(void) {
    for (int count = 0; count < 400; count++) {
        pid_t child = fork();
        if (child < 0) return !attempt("fork", -1);
        if (child == 0) {
            if (fork() == 0) _exit(0);
            _exit(0);
        }
        waitpid(child, NULL, 0);
        sleep_ms(1);
    }
    puts("forked them all");
    return verdict(0);
}
