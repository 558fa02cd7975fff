#include "CLinuxDiscovery.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

_Static_assert(clinux_netlink_done == (int)NLMSG_DONE && clinux_netlink_error == (int)NLMSG_ERROR, "linux/netlink.h");
_Static_assert(clinux_netlink_new_link == (int)RTM_NEWLINK && clinux_netlink_del_link == (int)RTM_DELLINK, "links");
_Static_assert(clinux_netlink_new_addr == (int)RTM_NEWADDR && clinux_netlink_del_addr == (int)RTM_DELADDR, "addresses");
_Static_assert(clinux_netlink_get_link == (int)RTM_GETLINK && clinux_netlink_get_addr == (int)RTM_GETADDR, "requests");

_Static_assert(clinux_netlink_new_route == (int)RTM_NEWROUTE && clinux_netlink_get_route == (int)RTM_GETROUTE, "routes");
_Static_assert(clinux_netlink_new_neigh == (int)RTM_NEWNEIGH && clinux_netlink_get_neigh == (int)RTM_GETNEIGH, "neighbours");

int clinux_netlink_open(int networks) {
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (fd < 0) return -1;
    struct sockaddr_nl address = {
        .nl_family = AF_NETLINK,
        .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR,
    };
    if (networks) address.nl_groups |= RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE | RTMGRP_NEIGH;
    if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

int clinux_netlink_dump(int fd, uint16_t type, uint32_t sequence) {
    struct {
        struct nlmsghdr header;
        struct rtgenmsg body;
    } request;
    memset(&request, 0, sizeof request);
    request.header.nlmsg_len = NLMSG_LENGTH(sizeof(struct rtgenmsg));
    request.header.nlmsg_type = type;
    request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    request.header.nlmsg_seq = sequence;
    request.body.rtgen_family = AF_UNSPEC;
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    ssize_t n;
    do {
        n = sendto(fd, &request, request.header.nlmsg_len, 0, (struct sockaddr *)&kernel, sizeof kernel);
    } while (n < 0 && errno == EINTR);
    return n < 0 ? -1 : 0;
}

ssize_t clinux_netlink_receive(int fd, void *buffer, size_t size) {
    struct sockaddr_nl source = {0};
    struct iovec part = {.iov_base = buffer, .iov_len = size};
    struct msghdr message = {
        .msg_name = &source, .msg_namelen = sizeof source, .msg_iov = &part, .msg_iovlen = 1};
    ssize_t n;
    do {
        n = recvmsg(fd, &message, MSG_DONTWAIT);
    } while (n < 0 && errno == EINTR);
    if (n < 0) return -1;
    if (message.msg_flags & MSG_TRUNC) {
        errno = EMSGSIZE;
        return -1;
    }
    // Other processes may send to our port. Accept messages from the kernel (port 0) only.
    if (message.msg_namelen < sizeof source || source.nl_pid != 0) return 0;
    return n;
}

ssize_t clinux_datagram_peek(int fd, void *buffer, size_t size, struct clinux_datagram_info *way) {
    union {
        struct sockaddr_in ipv4;
        struct sockaddr_in6 ipv6;
    } source = {0};
    union {
        char bytes[256];
        struct cmsghdr aligned;
    } control;
    struct iovec part = {.iov_base = buffer, .iov_len = size};
    struct msghdr message = {
        .msg_name = &source, .msg_namelen = sizeof source, .msg_iov = &part, .msg_iovlen = 1,
        .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    ssize_t n;
    do {
        n = recvmsg(fd, &message, MSG_PEEK | MSG_DONTWAIT);
    } while (n < 0 && errno == EINTR);
    if (n < 0) return -1;
    memset(way, 0, sizeof *way);
    if (source.ipv4.sin_family == AF_INET) {
        way->port = ntohs(source.ipv4.sin_port);
        memcpy(way->address, &source.ipv4.sin_addr, 4);
    } else if (source.ipv6.sin6_family == AF_INET6) {
        way->is_ipv6 = 1;
        way->port = ntohs(source.ipv6.sin6_port);
        memcpy(way->address, &source.ipv6.sin6_addr, 16);
    }
    for (struct cmsghdr *item = CMSG_FIRSTHDR(&message); item; item = CMSG_NXTHDR(&message, item)) {
        if (item->cmsg_level == IPPROTO_IP && item->cmsg_type == IP_PKTINFO) {
            struct in_pktinfo info;
            memcpy(&info, CMSG_DATA(item), sizeof info);
            way->interface = (uint32_t)info.ipi_ifindex;
        } else if (item->cmsg_level == IPPROTO_IPV6 && item->cmsg_type == IPV6_PKTINFO) {
            struct in6_pktinfo info;
            memcpy(&info, CMSG_DATA(item), sizeof info);
            way->interface = info.ipi6_ifindex;
        }
    }
    return n;
}

int clinux_timer(void) { return timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK); }

int clinux_timer_arm(int fd, uint64_t nanoseconds) {
    struct itimerspec when = {
        .it_value = {.tv_sec = (time_t)(nanoseconds / 1000000000), .tv_nsec = (long)(nanoseconds % 1000000000)}};
    return timerfd_settime(fd, 0, &when, NULL);
}

uint64_t clinux_boot_time(void) {
    struct timespec now = {0};
    clock_gettime(CLOCK_BOOTTIME, &now);
    // A library that shifts clocks may return a time before the machine's start.
    return now.tv_sec < 0 ? 0 : (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
