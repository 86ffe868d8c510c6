/* attack: memory of the kernel, in queues of messages that no process reads
 * expect: ok or memory_limit
 * limits: memory_mb=64
 * expect.user: ok
 * stdout.user: msgget ENOSYS
 * names.user: msgget
 */
#include "attack.h"
#include <sys/msg.h>

int main(void) {
    static struct { long kind; char text[8192]; } message = {1};
    static int queues[30000];
    long count = 0, had = 0;
    memset(message.text, 'x', sizeof message.text);
    for (; count < 30000 && had < 192 * MIB; count++) {
        queues[count] = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
        if (queues[count] < 0) break;
        while (msgsnd(queues[count], &message, sizeof message.text, IPC_NOWAIT) == 0)
            had += sizeof message.text;
    }
    attempt("msgget", count ? 0 : -1);
    printf("had %ld MiB\n", had / MIB);
    for (long at = 0; at < count; at++) msgctl(queues[at], IPC_RMID, NULL);
    return limited(had >= 192 * MIB);
}
