#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timex.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CLINUX_THREAD_SANITIZED 1
#endif
#endif

int clinux_is_thread_sanitized(void) {
#ifdef CLINUX_THREAD_SANITIZED
    return 1;
#else
    return 0;
#endif
}

int clinux_eventfd(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

int clinux_poll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

int clinux_poll_change(int poll, enum clinux_poll_operation operation, int fd, uint32_t events, void *context) {
    struct epoll_event event = {.events = events, .data.ptr = context};
    return epoll_ctl(poll, operation, fd, &event);
}

int clinux_poll_wait(int poll, int milliseconds, uint32_t *events, void **context) {
    struct epoll_event event;
    int count = epoll_wait(poll, &event, 1, milliseconds);
    if (count > 0) {
        *events = event.events;
        *context = event.data.ptr;
    }
    return count;
}

int clinux_accept(int fd, void *address, unsigned *length) {
    return accept4(fd, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

int clinux_socket(int family, int type) { return socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0); }

int clinux_socketpair(int pair[2]) {
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair);
}

int clinux_pipe(int pair[2]) { return pipe2(pair, O_NONBLOCK | O_CLOEXEC); }

int clinux_set_option(int fd, int option, int value) {
    static const struct {
        int level, name;
    } names[] = {
        [CLINUX_REUSE_ADDRESS] = {SOL_SOCKET, SO_REUSEADDR},
        [CLINUX_V6_ONLY] = {IPPROTO_IPV6, IPV6_V6ONLY},
        [CLINUX_NO_DELAY] = {IPPROTO_TCP, TCP_NODELAY},
        [CLINUX_KEEPALIVE] = {SOL_SOCKET, SO_KEEPALIVE},
        [CLINUX_KEEP_IDLE] = {IPPROTO_TCP, TCP_KEEPIDLE},
        [CLINUX_KEEP_INTERVAL] = {IPPROTO_TCP, TCP_KEEPINTVL},
        [CLINUX_KEEP_COUNT] = {IPPROTO_TCP, TCP_KEEPCNT},
        [CLINUX_PACKET_INFO] = {IPPROTO_IP, IP_PKTINFO},
        [CLINUX_PACKET_INFO_6] = {IPPROTO_IPV6, IPV6_RECVPKTINFO},
        [CLINUX_SEND_BUFFER] = {SOL_SOCKET, SO_SNDBUF},
        [CLINUX_RECEIVE_BUFFER] = {SOL_SOCKET, SO_RCVBUF},
        [CLINUX_FREE_BIND] = {IPPROTO_IP, IP_FREEBIND},
        [CLINUX_FREE_BIND_6] = {IPPROTO_IPV6, IPV6_FREEBIND},
    };
    if (option < 1 || (size_t)option >= sizeof names / sizeof *names) {
        errno = EINVAL;
        return -1;
    }
    return setsockopt(fd, names[option].level, names[option].name, &value, sizeof value);
}

int clinux_socket_error(int fd) {
    int error = 0;
    socklen_t length = sizeof error;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) < 0 ? errno : error;
}

int clinux_socket_type(int fd) {
    int type = 0;
    socklen_t length = sizeof type;
    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) < 0 ? -1 : type;
}

int clinux_peer_credentials(int fd, int *pid, unsigned *uid, unsigned *gid) {
    struct ucred credentials;
    socklen_t length = sizeof credentials;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) < 0)
        return -1;
    *pid = credentials.pid;
    *uid = credentials.uid;
    *gid = credentials.gid;
    return 0;
}

ssize_t clinux_receive(int fd, void *bytes, size_t size, void *source, unsigned *source_length,
                       struct clinux_local *local) {
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(struct in_pktinfo)) + CMSG_SPACE(sizeof(struct in6_pktinfo))];
    } control;
    struct iovec vector = {bytes, size};
    struct msghdr message = {
        .msg_name = source,
        .msg_namelen = *source_length,
        .msg_iov = &vector,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = sizeof control,
    };
    // MSG_TRUNC returns the real size, so that a caller can detect a truncated datagram.
    ssize_t count = recvmsg(fd, &message, MSG_TRUNC | MSG_CMSG_CLOEXEC);
    if (count < 0)
        return count;
    *source_length = message.msg_namelen;
    memset(local, 0, sizeof *local);
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header != NULL; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level == IPPROTO_IP && header->cmsg_type == IP_PKTINFO) {
            struct in_pktinfo info;
            memcpy(&info, CMSG_DATA(header), sizeof info);
            // spec_dst, not addr: for a broadcast it is our own address, from which a reply can be
            // sent.
            memcpy(local->address, &info.ipi_spec_dst, 4);
            local->size = 4;
            local->interface = (unsigned)info.ipi_ifindex;
            break; // A dual-stack socket reports an IPv4 datagram twice; this form is the complete one.
        }
        if (header->cmsg_level == IPPROTO_IPV6 && header->cmsg_type == IPV6_PKTINFO) {
            struct in6_pktinfo info;
            memcpy(&info, CMSG_DATA(header), sizeof info);
            memcpy(local->address, &info.ipi6_addr, 16);
            local->size = 16;
            local->interface = (unsigned)info.ipi6_ifindex;
        }
    }
    return count;
}

ssize_t clinux_send(int fd, const void *bytes, size_t size, const void *destination, unsigned destination_length,
                    const struct clinux_local *local) {
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(struct in6_pktinfo))];
    } control;
    struct iovec vector = {(void *)bytes, size};
    struct msghdr message = {
        .msg_name = (void *)destination,
        .msg_namelen = destination_length,
        .msg_iov = &vector,
        .msg_iovlen = 1,
    };
    if (local != NULL && local->size != 0) {
        memset(&control, 0, sizeof control);
        struct cmsghdr *header = &control.align;
        message.msg_control = &control;
        if (local->size == 4) {
            struct in_pktinfo info = {.ipi_ifindex = (int)local->interface};
            memcpy(&info.ipi_spec_dst, local->address, 4);
            header->cmsg_level = IPPROTO_IP;
            header->cmsg_type = IP_PKTINFO;
            header->cmsg_len = CMSG_LEN(sizeof info);
            message.msg_controllen = CMSG_SPACE(sizeof info);
            memcpy(CMSG_DATA(header), &info, sizeof info);
        } else {
            struct in6_pktinfo info = {.ipi6_ifindex = local->interface};
            memcpy(&info.ipi6_addr, local->address, 16);
            header->cmsg_level = IPPROTO_IPV6;
            header->cmsg_type = IPV6_PKTINFO;
            header->cmsg_len = CMSG_LEN(sizeof info);
            message.msg_controllen = CMSG_SPACE(sizeof info);
            memcpy(CMSG_DATA(header), &info, sizeof info);
        }
    }
    return sendmsg(fd, &message, MSG_NOSIGNAL);
}

ssize_t clinux_receive_passed(int fd, void *bytes, size_t size, int passed[CLINUX_MAX_PASSED], int *count,
                              int *is_cut) {
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(CLINUX_MAX_PASSED * sizeof(int))];
    } control;
    struct iovec vector = {bytes, size};
    struct msghdr message = {
        .msg_iov = &vector,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = sizeof control,
    };
    *count = 0;
    *is_cut = 0;
    ssize_t result = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
    if (result < 0)
        return result;
    *is_cut = (message.msg_flags & MSG_CTRUNC) != 0;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header != NULL; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
            continue;
        size_t arrived = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        size_t room = CLINUX_MAX_PASSED - (size_t)*count;
        if (arrived > room)
            arrived = room; // Cannot happen: the control buffer has no room for more.
        memcpy(passed + *count, CMSG_DATA(header), arrived * sizeof(int));
        *count += (int)arrived;
    }
    return result;
}

ssize_t clinux_peek_passed(int fd, void *bytes, size_t size, int *has_passed) {
    struct iovec vector = {bytes, size};
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
    ssize_t result = recvmsg(fd, &message, MSG_PEEK);
    *has_passed = result >= 0 && (message.msg_flags & MSG_CTRUNC) != 0;
    return result;
}

int clinux_end_with_unread(int fd) {
    int domain = 0, unread = 0;
    socklen_t size = sizeof domain;
    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0 || domain != AF_UNIX)
        return 0;
    // First, so that nothing arrives after the check.
    shutdown(fd, SHUT_RD);
    if (ioctl(fd, FIONREAD, &unread) != 0 || unread == 0)
        return 0;
    shutdown(fd, SHUT_RDWR);
    return 1;
}

ssize_t clinux_send_passing(int fd, const void *bytes, size_t size, const int *passed, size_t count) {
    enum { MAX_COUNT = 4 };
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(MAX_COUNT * sizeof(int))];
    } control;
    if (count == 0 || count > MAX_COUNT) {
        errno = EINVAL;
        return -1;
    }
    memset(&control, 0, sizeof control);
    struct iovec vector = {(void *)bytes, size};
    struct msghdr message = {
        .msg_iov = &vector,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = CMSG_SPACE(count * sizeof(int)),
    };
    struct cmsghdr *header = &control.align;
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(header), passed, count * sizeof(int));
    return sendmsg(fd, &message, MSG_NOSIGNAL);
}

int clinux_file_type(int fd) {
    struct statx status;
    // Does not query the file system's server, so the call returns even if the file system hangs. A
    // file's type does not change.
    int flags = AT_EMPTY_PATH | AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT;
    return statx(fd, "", flags, STATX_TYPE, &status) < 0 ? -1 : status.stx_mode & S_IFMT;
}

int clinux_is_path_only(int flags) { return (flags & O_PATH) != 0; }

ssize_t clinux_read_now(int fd, int is_socket, void *bytes, size_t size) {
    if (is_socket)
        return recv(fd, bytes, size, MSG_DONTWAIT);
    struct iovec vector = {bytes, size};
    ssize_t count = preadv2(fd, &vector, 1, -1, RWF_NOWAIT);
    // For named pipes, and for all pipes before Linux 6.4. Reading a pipe that has bytes does not
    // block.
    return count < 0 && errno == EOPNOTSUPP ? read(fd, bytes, size) : count;
}

ssize_t clinux_write_now(int fd, int is_socket, const void *bytes, size_t size) {
    if (is_socket)
        return send(fd, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    struct iovec vector = {(void *)bytes, size};
    ssize_t count = pwritev2(fd, &vector, 1, -1, RWF_NOWAIT);
    // As above: a pipe that is ready accepts at least PIPE_BUF bytes without blocking.
    return count < 0 && errno == EOPNOTSUPP ? write(fd, bytes, size < PIPE_BUF ? size : PIPE_BUF) : count;
}

int clinux_terminal_columns(int fd) {
    struct winsize size;
    return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : -1;
}

int clinux_terminal_size(int fd, uint16_t *rows, uint16_t *columns) {
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) != 0) return -1;
    *rows = size.ws_row;
    *columns = size.ws_col;
    return 0;
}

int clinux_set_terminal_size(int fd, uint16_t rows, uint16_t columns) {
    struct winsize size = {.ws_row = rows, .ws_col = columns};
    return ioctl(fd, TIOCSWINSZ, &size);
}

void clinux_name_thread(const char *name) {
    char cut[16];
    strncpy(cut, name, sizeof cut - 1);
    cut[sizeof cut - 1] = 0;
    pthread_setname_np(pthread_self(), cut);
}

int clinux_forbid_dump(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

int clinux_clock_is_synchronized(void) {
    struct timex state;
    memset(&state, 0, sizeof state);
    if (adjtimex(&state) == -1) return -1;
    return (state.status & STA_UNSYNC) == 0;
}

int clinux_packet_size(const char *interface) {
    struct ifreq request;
    memset(&request, 0, sizeof request);
    if (strlen(interface) >= sizeof request.ifr_name) {
        errno = ENODEV;
        return -1;
    }
    memcpy(request.ifr_name, interface, strlen(interface));
    int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -1;
    int result = ioctl(descriptor, SIOCGIFMTU, &request);
    close(descriptor);
    return result < 0 ? -1 : request.ifr_mtu;
}

int clinux_unacknowledged(int descriptor) {
    int count = 0;
    return ioctl(descriptor, SIOCOUTQ, &count) < 0 ? -1 : count;
}
