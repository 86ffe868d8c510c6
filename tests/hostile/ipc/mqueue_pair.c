/* attack: a POSIX queue between two runs
 * expect: ok
 * stdout: mq_open DONE or mq_open EACCES
 * stdout.user: mq_open ENOSYS or mq_open EPERM or mq_open EACCES or mq_open DONE
 * together: 2
 */
#include "attack.h"
#include <mqueue.h>

int main(void) {
    mqd_t queue = mq_open("/toolexec-hostile", O_CREAT | O_EXCL | O_RDWR, 0666, NULL);
    int taken = !attempt("mq_open", queue) && errno == EEXIST;
    sleep_ms(1000);
    if (queue >= 0) mq_unlink("/toolexec-hostile");
    return verdict(taken);
}
