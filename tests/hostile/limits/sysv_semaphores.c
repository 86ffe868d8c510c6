/* attack: memory of the kernel, in sets of semaphores
 * expect: ok or memory_limit
 * limits: memory_mb=64
 * expect.user: ok
 * stdout.user: semget ENOSYS
 * names.user: semget
 */
#include "attack.h"
#include <sys/sem.h>

int main(void) {
    /* A semaphore takes 64 bytes. */
    static int sets[200];
    long count = 0, had = 0;
    while (count < 200 && had < 192 * MIB) {
        sets[count] = semget(IPC_PRIVATE, 32000, IPC_CREAT | 0600);
        if (sets[count] < 0) break;
        had += 32000 * 64;
        count++;
    }
    attempt("semget", count ? 0 : -1);
    printf("had %ld MiB\n", had / MIB);
    for (long at = 0; at < count; at++) semctl(sets[at], 0, IPC_RMID);
    return limited(had >= 192 * MIB);
}
