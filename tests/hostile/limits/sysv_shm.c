/* attack: three times the memory in System V segments, which outlive their processes
 * expect: memory_limit
 * limits: memory_mb=64
 * expect.user: ok
 * stdout.user: shmget ENOSYS or shmget EPERM
 */
#include "attack.h"
#include <sys/shm.h>

int main(void) {
    int id = shmget(IPC_PRIVATE, 192 * MIB, IPC_CREAT | 0600);
    if (!attempt("shmget", id)) return limited(0);
    char *memory = shmat(id, NULL, 0);
    /* Removed with its last user, even if this process is killed. */
    shmctl(id, IPC_RMID, NULL);
    touch(memory, 192 * MIB);
    return limited(1);
}
