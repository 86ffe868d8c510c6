/* attack: an abstract socket of the host, which no file system divides
 * expect: ok
 * stdout: connect ECONNREFUSED or connect EPERM
 */
#include "attack.h"
#include <stddef.h>

int main(void) {
    struct sockaddr_un name = {AF_UNIX};
    const char *word = given("abstract");
    strcpy(name.sun_path + 1, word);
    socklen_t length = offsetof(struct sockaddr_un, sun_path) + 1 + strlen(word);
    return verdict(attempt("connect", connect(socket(AF_UNIX, SOCK_STREAM, 0), (void *)&name, length)));
}
