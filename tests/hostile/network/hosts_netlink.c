/* attack: a run with a host asks the kernel for its tables, routes among them, and tries to change some
 * hosts: 127.0.0.1
 * expect: ok
 * stdout: route EAFNOSUPPORT
 * stdout: CONTAINED
 * elsewhere: no
 */
#include "proxy.h"
#include <linux/if_addr.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

/* The kernel's answer to one request that changes something. */
static int changed(int made, const char *name, int type, void *body, size_t length) {
    struct {
        struct nlmsghdr head;
        char body[64];
    } message = {{NLMSG_LENGTH(length), type, NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE, 1, 0}, {0}};
    memcpy(message.body, body, length);
    if (send(made, &message, message.head.nlmsg_len, 0) < 0) return attempt(name, -1);
    char back[4096];
    struct nlmsghdr *head = (void *)back;
    if (recv(made, back, sizeof back, 0) < 0) return attempt(name, -1);
    struct nlmsgerr *error = NLMSG_DATA(head);
    errno = head->nlmsg_type == NLMSG_ERROR ? -error->error : EBADMSG;
    return attempt(name, errno ? -1 : 0);
}

int main(void) {
    int opened = 0;
    struct timeval most = {2, 0};
    for (int table = 1; table < 32; table++) {
        int made = socket(AF_NETLINK, SOCK_RAW, table);
        if (made >= 0) printf("table %d DONE\n", table);
        opened |= made >= 0;
    }
    int made = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
    attempt("route", made);
    setsockopt(made, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    struct ifinfomsg link = {.ifi_family = AF_UNSPEC, .ifi_index = 1, .ifi_flags = 0, .ifi_change = 1};
    struct ifaddrmsg address = {.ifa_family = AF_INET, .ifa_prefixlen = 8, .ifa_index = 1};
    struct rtmsg route = {.rtm_family = AF_INET, .rtm_table = RT_TABLE_MAIN, .rtm_protocol = RTPROT_BOOT, .rtm_type = RTN_UNICAST};
    opened |= changed(made, "link", RTM_NEWLINK, &link, sizeof link);
    opened |= changed(made, "address", RTM_NEWADDR, &address, sizeof address);
    opened |= changed(made, "route_new", RTM_NEWROUTE, &route, sizeof route);
    return closed(opened || !served());
}
