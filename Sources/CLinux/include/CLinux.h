// System calls and constants that Swift's Glibc module does not export, behind plain integers and
// pointers. _GNU_SOURCE is defined in CLinux.c only: a header that Swift imports must not change
// the declarations of Glibc.
#pragma once

#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Returns 1 if this build is instrumented by ThreadSanitizer, which does not recognise Swift's
/// Mutex.
int clinux_is_thread_sanitized(void);

/// prctl(2) with PR_SET_DUMPABLE 0: prevents core files and debuggers of the same user from
/// exposing the keys. Returns 0 or -1 with errno.
int clinux_forbid_dump(void);

/// Returns 1 if the kernel considers the clock synchronised (adjtimex(2), read-only), 0 if not, or
/// -1 with errno.
int clinux_clock_is_synchronized(void);

/// Returns the MTU of a network interface in bytes (netdevice(7), SIOCGIFMTU), or -1 with errno.
int clinux_packet_size(const char *interface);

/// eventfd(2), non-blocking and close-on-exec. Returns the descriptor or -1 with errno.
int clinux_eventfd(void);

/// epoll_create1(2), close-on-exec. Returns the descriptor or -1 with errno.
int clinux_poll_create(void);

/// epoll_ctl(2). Returns 0 or -1 with errno.
enum clinux_poll_operation { CLINUX_POLL_ADD = 1, CLINUX_POLL_REMOVE = 2, CLINUX_POLL_MODIFY = 3 };
int clinux_poll_change(int poll, enum clinux_poll_operation operation, int fd, uint32_t events, void *context);

/// epoll_wait(2) for one event. Returns 1, 0 after the timeout, or -1 with errno.
int clinux_poll_wait(int poll, int milliseconds, uint32_t *events, void **context);

/// accept4(2), non-blocking and close-on-exec. Returns the descriptor or -1 with errno.
int clinux_accept(int fd, void *address, unsigned *length);

/// socket(2), non-blocking and close-on-exec. Returns the descriptor or -1 with errno.
int clinux_socket(int family, int type);

/// socketpair(2) of two non-blocking, close-on-exec AF_UNIX stream sockets. Returns 0 or -1 with errno.
int clinux_socketpair(int pair[2]);

/// pipe2(2), non-blocking and close-on-exec. Returns 0 or -1 with errno.
int clinux_pipe(int pair[2]);

/// Returns the number of bytes of a TCP socket that the peer has not acknowledged (SIOCOUTQ,
/// tcp(7)), or -1 with errno.
int clinux_unacknowledged(int descriptor);

/// The socket options of clinux_set_option, which calls setsockopt(2) with an int and returns 0 or
/// -1 with errno.
enum clinux_option {
    CLINUX_REUSE_ADDRESS = 1, // SOL_SOCKET, SO_REUSEADDR
    CLINUX_V6_ONLY = 2,       // IPPROTO_IPV6, IPV6_V6ONLY
    CLINUX_NO_DELAY = 3,      // IPPROTO_TCP, TCP_NODELAY
    CLINUX_KEEPALIVE = 4,     // SOL_SOCKET, SO_KEEPALIVE
    CLINUX_KEEP_IDLE = 5,     // IPPROTO_TCP, TCP_KEEPIDLE, seconds
    CLINUX_KEEP_INTERVAL = 6, // IPPROTO_TCP, TCP_KEEPINTVL, seconds
    CLINUX_KEEP_COUNT = 7,    // IPPROTO_TCP, TCP_KEEPCNT
    CLINUX_PACKET_INFO = 8,   // IPPROTO_IP, IP_PKTINFO
    CLINUX_PACKET_INFO_6 = 9, // IPPROTO_IPV6, IPV6_RECVPKTINFO
    CLINUX_SEND_BUFFER = 10,  // SOL_SOCKET, SO_SNDBUF, bytes
    CLINUX_RECEIVE_BUFFER = 11, // SOL_SOCKET, SO_RCVBUF, bytes
    CLINUX_FREE_BIND = 12,    // IPPROTO_IP, IP_FREEBIND
    CLINUX_FREE_BIND_6 = 13,  // IPPROTO_IPV6, IPV6_FREEBIND
};
int clinux_set_option(int fd, int option, int value);

/// Returns SO_ERROR of a socket: the pending error, 0 if there is none, or errno if it cannot be
/// read.
int clinux_socket_error(int fd);

/// Returns SO_TYPE of a socket (for example SOCK_STREAM), or -1 with errno (ENOTSOCK for a pipe).
int clinux_socket_type(int fd);

/// SO_PEERCRED. Returns 0 or -1 with errno.
int clinux_peer_credentials(int fd, int *pid, unsigned *uid, unsigned *gid);

/// The local endpoint at which a datagram arrived, or from which to send one.
struct clinux_local {
    uint8_t address[16]; // network order; the first 4 bytes for IPv4
    unsigned size;       // 0: unknown or any, 4: IPv4, 16: IPv6
    unsigned interface;  // 0: unknown or any
};

/// recvmsg(2) with IP_PKTINFO and IPV6_PKTINFO. Returns the size of the datagram, which exceeds
/// `size` if it was truncated, or -1 with errno. `source` has room for `*source_length` bytes.
ssize_t clinux_receive(int fd, void *bytes, size_t size, void *source, unsigned *source_length,
                       struct clinux_local *local);

/// sendmsg(2) with MSG_NOSIGNAL and, if `local` is set, the packet information of the destination's
/// family.
ssize_t clinux_send(int fd, const void *bytes, size_t size, const void *destination, unsigned destination_length,
                    const struct clinux_local *local);

/// The maximum number of descriptors that one message can pass (SCM_MAX_FD, unix(7)).
enum { CLINUX_MAX_PASSED = 253 };

/// recvmsg(2) with the descriptors that were passed with the bytes (SCM_RIGHTS), close-on-exec. The
/// caller owns them. `*is_cut` is 1 if more descriptors were passed than this process may open.
/// Returns the number of bytes, or -1 with errno.
ssize_t clinux_receive_passed(int fd, void *bytes, size_t size, int passed[CLINUX_MAX_PASSED], int *count,
                              int *is_cut);

/// recvmsg(2) with MSG_PEEK: copies the bytes that the next receive of the same size returns,
/// without removing them. `*has_passed` is 1 if descriptors are attached to them. Returns the
/// number of bytes, or -1 with errno.
ssize_t clinux_peek_passed(int fd, void *bytes, size_t size, int *has_passed);

/// Shuts down reading from a unix socket (shutdown(2)), so that no more bytes can arrive. If there
/// are unread bytes, it also shuts down writing, because closing may be delayed, and returns 1.
/// Otherwise it returns 0. A descriptor that is not a unix socket is not changed.
int clinux_end_with_unread(int fd);

/// sendmsg(2) with MSG_NOSIGNAL and one to four descriptors, which are attached to the first byte.
/// Returns the number of accepted bytes, or -1 with errno; then no descriptor was passed.
ssize_t clinux_send_passing(int fd, const void *bytes, size_t size, const int *passed, size_t count);

/// Returns the type bits of an open file (statx(2), S_IFMT) without querying the server of its file
/// system, or -1 with errno.
int clinux_file_type(int fd);

/// Returns 1 if the flags of F_GETFL include O_PATH: the descriptor identifies a file but cannot
/// read or write it.
int clinux_is_path_only(int flags);

/// Reads from a pipe or stream socket that poll(2) has reported as ready, without making its open
/// file non-blocking, because other processes share it. It blocks only if another reader empties a
/// named pipe, or any pipe before Linux 6.4, in between. Returns the number of bytes, 0 at the end,
/// or -1 with errno (EAGAIN: no bytes are available).
ssize_t clinux_read_now(int fd, int is_socket, void *bytes, size_t size);

/// Writes in the same way to a pipe or stream socket that poll(2) has reported as ready. Returns
/// the number of accepted bytes, or -1 with errno (EAGAIN: there is no room). A pipe without a
/// reader raises SIGPIPE, which the caller has blocked.
ssize_t clinux_write_now(int fd, int is_socket, const void *bytes, size_t size);

/// TIOCGWINSZ: returns the number of columns of a terminal, 0 if it is unknown, or -1 with errno if
/// it is not a terminal.
int clinux_terminal_columns(int fd);

/// TIOCGWINSZ. Returns 0, or -1 with errno (ENOTTY if it is not a terminal).
int clinux_terminal_size(int fd, uint16_t *rows, uint16_t *columns);

/// TIOCSWINSZ. Returns 0, or -1 with errno.
int clinux_set_terminal_size(int fd, uint16_t rows, uint16_t columns);

/// pthread_setname_np(3) for the calling thread; the kernel keeps 15 bytes.
void clinux_name_thread(const char *name);

#include "CLinuxArguments.h"
#include "CLinuxConfinement.h"
#include "CLinuxDiscovery.h"
#include "CLinuxFiles.h"
#include "CLinuxMemory.h"
#include "CLinuxSharedMemory.h"
#include "CLinuxSpawn.h"
