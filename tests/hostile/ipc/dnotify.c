/* attack: a watch on a directory that two runs share (F_NOTIFY, older than inotify)
 * expect: ok
 * stdout: F_NOTIFY EPERM or F_NOTIFY EACCES or F_NOTIFY EINVAL or F_NOTIFY ENOSYS
 * elsewhere: no
 */
#include "attack.h"

int main(void) {
    return closed(attempt("F_NOTIFY", fcntl(open("/usr/bin", O_RDONLY), F_NOTIFY, DN_ACCESS | DN_MULTISHOT)));
}
