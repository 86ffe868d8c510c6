/* attack: fifty threads, which are allowed
 * expect: ok
 * stdout: CONTAINED
 */
#include "attack.h"
#include <pthread.h>

static void *nap(void *nothing) {
    sleep_ms(100);
    return nothing;
}

int main(void) {
    pthread_t threads[50];
    for (int count = 0; count < 50; count++)
        if ((errno = pthread_create(&threads[count], NULL, nap, NULL))) return !attempt("thread", -1);
    for (int count = 0; count < 50; count++) pthread_join(threads[count], NULL);
    return verdict(0);
}
