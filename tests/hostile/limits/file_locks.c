/* attack: memory of the kernel, in locks on single bytes of files
 * expect: memory_limit
 * limits: memory_mb=48 time_sec=300
 */
#include "attack.h"

enum { FILES = 400, EACH = 2000 };

int main(void) {
    long locks = 0;
    char path[32];
    for (int number = 0; number < FILES; number++) {
        snprintf(path, sizeof path, "/tmp/%d", number);
        int file = open(path, O_RDWR | O_CREAT, 0600);
        for (int at = EACH; at > 0; at--) {
            /* Two bytes apart, otherwise the kernel merges them. */
            struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 2L * at, .l_len = 1};
            if (fcntl(file, F_SETLK, &lock) < 0) return limited(0);
            locks++;
        }
    }
    printf("locks %ld\n", locks);
    return limited(locks >= FILES * EACH);
}
