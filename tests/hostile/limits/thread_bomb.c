/* attack: as many threads as there can be
 * expect: pids_limit
 * stdout: thread EAGAIN
 * within: 12
 */
#include "attack.h"
#include <pthread.h>

static void *wait_for_ever(void *nothing) {
    pause();
    return nothing;
}

int main(void) {
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    for (int count = 0; count < 500; count++) {
        pthread_t thread;
        errno = pthread_create(&thread, &small, wait_for_ever, NULL);
        if (errno) {
            attempt("thread", -1);
            /* Long enough to be seen by a sampler. */
            sleep_ms(4000);
            limited(0);
            return 1;
        }
    }
    return limited(1);
}
