// System calls and constants that Glibc does not show Swift, behind plain integers and pointers.
// _GNU_SOURCE stays in CLinux.c: a header that Swift sees must not change what Glibc declares.
#pragma once

#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// 1 when this build is instrumented by ThreadSanitizer, which does not understand Swift's Mutex.
int clinux_is_thread_sanitized(void);

/// prctl(2), PR_SET_DUMPABLE 0: no core file and no debugger of the same user sees the keys. Returns 0 or -1 with errno.
int clinux_forbid_dump(void);

/// Whether the kernel counts the clock as kept right (adjtimex(2), asking only): 1, 0, or -1 with errno.
int clinux_clock_is_synchronized(void);

/// The largest packets of a network interface in bytes (netdevice(7), SIOCGIFMTU), or -1 with errno.
int clinux_packet_size(const char *interface);

/// eventfd(2), non-blocking and close-on-exec. Returns the descriptor or -1 with errno.
int clinux_eventfd(void);

/// accept4(2), non-blocking and close-on-exec. Returns the descriptor or -1 with errno.
int clinux_accept(int fd, void *address, unsigned *length);

/// socket(2), non-blocking and close-on-exec. Returns the descriptor or -1 with errno.
int clinux_socket(int family, int type);

/// socketpair(2) of two non-blocking, close-on-exec AF_UNIX stream sockets. Returns 0 or -1 with errno.
int clinux_socketpair(int pair[2]);

/// pipe2(2), non-blocking and close-on-exec. Returns 0 or -1 with errno.
int clinux_pipe(int pair[2]);

/// Bytes of a TCP socket that the other end has not acknowledged (SIOCOUTQ, tcp(7)); -1 with errno on failure.
int clinux_unacknowledged(int descriptor);

/// setsockopt(2) of an int at one of these options. Returns 0 or -1 with errno.
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

/// SO_ERROR of a socket: the pending error, 0 when there is none, or errno when it cannot be read.
int clinux_socket_error(int fd);

/// SO_TYPE of a socket (SOCK_STREAM and so on) or -1 with errno (ENOTSOCK for a pipe).
int clinux_socket_type(int fd);

/// SO_PEERCRED. Returns 0 or -1 with errno.
int clinux_peer_credentials(int fd, int *pid, unsigned *uid, unsigned *gid);

/// Where a datagram arrived, or from where one shall leave.
struct clinux_local {
    uint8_t address[16]; // network order; the first 4 bytes for IPv4
    unsigned size;       // 0: unknown or any, 4: IPv4, 16: IPv6
    unsigned interface;  // 0: unknown or any
};

/// recvmsg(2) with IP_PKTINFO and IPV6_PKTINFO. Returns the size of the datagram, which is above `size` when it was
/// cut off, or -1 with errno. `source` has room for `*source_length` bytes.
ssize_t clinux_receive(int fd, void *bytes, size_t size, void *source, unsigned *source_length,
                       struct clinux_local *local);

/// sendmsg(2) with MSG_NOSIGNAL and, when `local` names any, the packet information of the destination's family.
ssize_t clinux_send(int fd, const void *bytes, size_t size, const void *destination, unsigned destination_length,
                    const struct clinux_local *local);

/// How many descriptors one message can pass (SCM_MAX_FD, unix(7)).
enum { CLINUX_MAX_PASSED = 253 };

/// recvmsg(2) with the descriptors that were passed with the bytes (SCM_RIGHTS), close-on-exec; they are the caller's.
/// `*is_cut` is 1 when more came than this process may open. Returns the count of bytes, or -1 with errno.
ssize_t clinux_receive_passed(int fd, void *bytes, size_t size, int passed[CLINUX_MAX_PASSED], int *count,
                              int *is_cut);

/// recvmsg(2) with MSG_PEEK: the bytes that the next receive of as much gives, which stay. `*has_passed` is 1 when descriptors
/// come with them. Returns the count of bytes, or -1 with errno.
ssize_t clinux_peek_passed(int fd, void *bytes, size_t size, int *has_passed);

/// Ends reading from a unix socket (shutdown(2)), so that no more can come, and returns 1 when something has come and was
/// not read; then writing is ended too, since closing may take its time. 0 for what is no unix socket, and is not changed.
int clinux_end_with_unread(int fd);

/// sendmsg(2) with MSG_NOSIGNAL and some descriptors (four at most), which go with the first byte. Returns the count of bytes
/// that were taken, or -1 with errno: then no descriptor was passed.
ssize_t clinux_send_passing(int fd, const void *bytes, size_t size, const int *passed, size_t count);

/// The type bits of an open file (statx(2), S_IFMT), without asking the server of its file system. -1 with errno.
int clinux_file_type(int fd);

/// 1 when the flags of F_GETFL have O_PATH: the descriptor names a file but cannot read or write it.
int clinux_is_path_only(int flags);

/// Reads from a pipe or stream socket that poll(2) has called ready, without making its open file non-blocking: others
/// share it. Only when another reader empties a named pipe, or one before Linux 6.4, in between does it wait.
/// Returns the count of bytes, 0 at the end, or -1 with errno (EAGAIN: nothing is there).
ssize_t clinux_read_now(int fd, int is_socket, void *bytes, size_t size);

/// Writes to a pipe or stream socket that poll(2) has called ready, in the same way. Returns how many bytes were taken,
/// or -1 with errno (EAGAIN: there is no room). A pipe without a reader raises SIGPIPE, which the caller has blocked.
ssize_t clinux_write_now(int fd, int is_socket, const void *bytes, size_t size);

/// TIOCGWINSZ: how many columns a terminal has. Returns 0 when it does not say, or -1 with errno when it is no terminal.
int clinux_terminal_columns(int fd);

/// pthread_setname_np(3) for the calling thread; the kernel keeps 15 bytes.
void clinux_name_thread(const char *name);

#include "CLinuxArguments.h"
#include "CLinuxConfinement.h"
#include "CLinuxDiscovery.h"
#include "CLinuxFiles.h"
#include "CLinuxMemory.h"
#include "CLinuxSharedMemory.h"
#include "CLinuxSpawn.h"
