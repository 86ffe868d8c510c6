/* attack: zombies that no process waits for, up to the limit
 * expect: ok
 * stdout: CONTAINED
 * within: 6
 */
#include "attack.h"

int main(void) {
    for (int count = 0; count < 40; count++)
        if (fork() == 0) _exit(0);
    return verdict(0);
}
