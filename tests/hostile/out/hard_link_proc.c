/* attack: a name for a deleted file, by way of /proc
 * expect: ok or output_rejected
 * lacks: secret
 */
#include "attack.h"

int main(void) {
    go_out();
    int file = open("/usr/bin/env", O_RDONLY);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    return verdict(attempt("linkat", linkat(AT_FDCWD, path, AT_FDCWD, "secret", AT_SYMLINK_FOLLOW)));
}
