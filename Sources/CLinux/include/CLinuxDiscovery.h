// The kernel interfaces that discovery needs: rtnetlink and timer descriptors.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// Message types of rtnetlink(7), under names that Swift can import.
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

/// Opens a non-blocking, close-on-exec rtnetlink socket that receives changes of links and of IPv4
/// and IPv6 addresses, and of routes and neighbours if `networks` is not 0. Returns the descriptor
/// or -1 with errno.
int clinux_netlink_open(int networks);

/// Requests all objects of one kind (RTM_GETLINK, RTM_GETADDR, RTM_GETROUTE or RTM_GETNEIGH). The
/// reply ends with NLMSG_DONE. Only one dump may be active at a time (EBUSY). Returns 0 or -1 with
/// errno.
int clinux_netlink_dump(int fd, uint16_t type, uint32_t sequence);

/// Receives one datagram from the kernel. Returns its size, 0 if another process sent it (it is
/// dropped), or -1 with errno: EAGAIN if none is available, ENOBUFS if some were lost, EMSGSIZE if
/// it did not fit. After the last two the caller must request all objects again.
ssize_t clinux_netlink_receive(int fd, void *buffer, size_t size);

/// The metadata of a datagram, as reported by recvmsg(2).
struct clinux_datagram_info {
    /// The interface index, or 0 if the socket does not report it (IP_PKTINFO, IPV6_RECVPKTINFO).
    uint32_t interface;
    /// The port it was sent from.
    uint16_t port;
    uint8_t is_ipv6;
    /// The address it was sent from, 4 or 16 bytes.
    uint8_t address[16];
};

/// Copies the next datagram of a UDP socket without removing it. Returns its size, limited to
/// `size`, or -1 with errno.
ssize_t clinux_datagram_peek(int fd, void *buffer, size_t size, struct clinux_datagram_info *way);

/// timerfd_create(2) on CLOCK_BOOTTIME, which includes suspend and cannot be set; non-blocking,
/// close-on-exec. Returns the descriptor or -1 with errno.
int clinux_timer(void);

/// timerfd_settime(2), once after the given number of nanoseconds; 0 disarms. Returns 0 or -1 with
/// errno.
int clinux_timer_arm(int fd, uint64_t nanoseconds);

/// Returns the nanoseconds of CLOCK_BOOTTIME.
uint64_t clinux_boot_time(void);
