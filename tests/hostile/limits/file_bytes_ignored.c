/* attack: a file longer than a file may be, past the signal that says so
 * expect: output_limit
 * limits: file_mib=4
 * stdout: write EFBIG
 */
#include "attack.h"

int main(void) {
    go_out();
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit more = {RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &more);
    int file = open("big", O_RDWR | O_CREAT | O_EXCL, 0600);
    long done = fill_mib(file, 12);
    attempt("write", done == 12 ? 0 : -1);
    limited(done == 12);
    return done != 12;
}
