/* attack: an exec from a thread that is not the first
 * expect: exit_nonzero 1 or ok
 * within: 6
 */
#include "attack.h"
#include <pthread.h>

static void *execute(void *nothing) {
    execl("/usr/bin/false", "false", NULL);
    return nothing;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, execute, NULL);
    for (;;) pause();
}
