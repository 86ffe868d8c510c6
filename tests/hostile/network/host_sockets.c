/* attack: the sockets of the host's services: docker, systemd, D-Bus
 * expect: ok
 * stdout: CONTAINED
 */
#include "attack.h"

int main(void) {
    const char *paths[] = {"/run/docker.sock", "/var/run/docker.sock", "/run/systemd/private",
                           "/run/dbus/system_bus_socket", "/run/toolexec/launch.sock", "/run/systemd/journal/dev-log"};
    int reached = 0;
    for (size_t at = 0; at < sizeof paths / sizeof *paths; at++) {
        struct sockaddr_un name = {AF_UNIX};
        strcpy(name.sun_path, paths[at]);
        reached += connect(socket(AF_UNIX, SOCK_STREAM, 0), (void *)&name, sizeof name) == 0;
        reached += connect(socket(AF_UNIX, SOCK_DGRAM, 0), (void *)&name, sizeof name) == 0;
    }
    return verdict(reached);
}
