/* attack: a call that kills, in a thread: the others do not go on
 * expect: seccomp_violation
 * needs: x86_64
 */
#include "attack.h"
#include <pthread.h>

static void *violate(void *nothing) {
    long answer = 20;
    __asm__ volatile("int $0x80" : "+a"(answer) : : "memory");
    return nothing;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, violate, NULL);
    pthread_join(thread, NULL);
    return closed(1);
}
