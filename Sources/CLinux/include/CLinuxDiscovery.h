// What discovery needs of the kernel: rtnetlink, and timer descriptors.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// Message types of rtnetlink(7), under the names that Swift can see.
enum {
    clinux_netlink_done = 3,        // NLMSG_DONE
    clinux_netlink_error = 2,       // NLMSG_ERROR
    clinux_netlink_new_link = 16,   // RTM_NEWLINK
    clinux_netlink_del_link = 17,   // RTM_DELLINK
    clinux_netlink_get_link = 18,   // RTM_GETLINK
    clinux_netlink_new_addr = 20,   // RTM_NEWADDR
    clinux_netlink_del_addr = 21,   // RTM_DELADDR
    clinux_netlink_get_addr = 22,   // RTM_GETADDR
    clinux_netlink_new_route = 24,  // RTM_NEWROUTE
    clinux_netlink_get_route = 26,  // RTM_GETROUTE
    clinux_netlink_new_neigh = 28,  // RTM_NEWNEIGH
    clinux_netlink_get_neigh = 30,  // RTM_GETNEIGH
};

/// A non-blocking, close-on-exec rtnetlink socket that is told of links, IPv4 and IPv6 addresses; with `networks` not 0 of
/// routes and neighbours as well. Returns the descriptor or -1 with errno.
int clinux_netlink_open(int networks);

/// Asks for everything of one kind (RTM_GETLINK, RTM_GETADDR, RTM_GETROUTE or RTM_GETNEIGH); the answer ends with NLMSG_DONE. Only one dump may
/// run at a time (EBUSY). Returns 0 or -1 with errno.
int clinux_netlink_dump(int fd, uint16_t type, uint32_t sequence);

/// Takes one datagram of the kernel. Returns its size, 0 when it came from another process (it is dropped), or -1 with
/// errno: EAGAIN when none is there, ENOBUFS when some were lost, EMSGSIZE when it did not fit; after the last two the
/// caller asks for all again.
ssize_t clinux_netlink_receive(int fd, void *buffer, size_t size);

/// How a datagram came: what recvmsg(2) says beside its bytes.
struct clinux_datagram_way {
    /// The index of the interface, or 0 when the socket does not tell (IP_PKTINFO, IPV6_RECVPKTINFO).
    uint32_t interface;
    /// The port that it was sent from.
    uint16_t port;
    uint8_t is_ipv6;
    /// The address that it was sent from, 4 or 16 bytes.
    uint8_t address[16];
};

/// Copies the next datagram of a socket of UDP and leaves it there. Returns its size, cut to `size`, or -1 with errno.
ssize_t clinux_datagram_peek(int fd, void *buffer, size_t size, struct clinux_datagram_way *way);

/// timerfd_create(2) on CLOCK_BOOTTIME, which counts suspend and which nobody can set; non-blocking, close-on-exec.
/// Returns the descriptor or -1 with errno.
int clinux_timer(void);

/// timerfd_settime(2), once after so many nanoseconds; 0 disarms. Returns 0 or -1 with errno.
int clinux_timer_arm(int fd, uint64_t nanoseconds);

/// Nanoseconds of CLOCK_BOOTTIME.
uint64_t clinux_boot_time(void);
