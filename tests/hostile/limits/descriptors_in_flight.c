/* attack: every descriptor in flight that a user may have, so that no other run of the user can pass one
 * expect: ok
 * stdout.user: sendmsg ETOOMANYREFS
 * together: 8
 */
#include "attack.h"

enum { BATCH = 253, MOST = 8000 };

static int send_batch(int socket, int file) {
    int files[BATCH];
    for (int at = 0; at < BATCH; at++) files[at] = file;
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof files)];
    } control;
    char byte = 0;
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(sizeof files);
    memcpy(CMSG_DATA(&control.header), files, sizeof files);
    return sendmsg(socket, &message, MSG_DONTWAIT);
}

int main(void) {
    int file = open("/dev/null", O_RDONLY), ends[2], sent = 0, answer = -1;
    while (sent < MOST) {
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0) break;
        while (sent < MOST && (answer = send_batch(ends[0], file)) >= 0) sent += BATCH;
        if (errno != EAGAIN) break;
    }
    attempt("sendmsg", answer);
    printf("in flight %d\n", sent);
    /* Until the other runs, and other programs of this user that pass descriptors, have tried. */
    sleep_ms(2000);
    return limited(0);
}
