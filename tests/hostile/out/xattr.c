/* attack: extended attributes, a capability of a file among them
 * expect: ok
 * keeps: file
 * stdout: setxattr EPERM
 * stdout: setcap EPERM
 * elsewhere: no
 */
#include "attack.h"
#include <sys/xattr.h>

int main(void) {
    go_out();
    write_file("file", "x");
    int had = attempt("setxattr", setxattr("file", "user.hostile", "x", 1, 0));
    uint32_t all[5] = {0x02000001, ~0u, 0, ~0u, 0};
    had |= attempt("setcap", setxattr("file", "security.capability", all, sizeof all, 0));
    return closed(had);
}
