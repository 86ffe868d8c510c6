/* attack: a main thread that ends while another goes on
 * expect: wall_limit
 * limits: time_sec=1
 * within: 5
 */
#include "attack.h"
#include <pthread.h>

static void *for_ever(void *nothing) {
    for (;;) pause();
    return nothing;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, for_ever, NULL);
    pthread_exit(NULL);
}
