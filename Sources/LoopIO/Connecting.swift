import CLinux
import Glibc

/// An attempt to connect by TCP. Use it on the loop's thread only. Releasing it cancels the
/// attempt.
package final class Connecting {
    private var descriptor: Descriptor?
    private var source: EventSource?
    private var timer: LoopTimer?
    private var completion: ((consuming Result<Descriptor, Errno>) -> Void)?

    init(
        to address: SocketAddress, on loop: EventLoop, timeout: Duration?,
        completion: @escaping (consuming Result<Descriptor, Errno>) -> Void
    ) {
        self.completion = completion
        do throws(Errno) {
            try start(to: address, on: loop)
            if let timeout {
                timer = loop.timer(after: timeout) { [weak self] in self?.finish(.timedOut) }
            }
        } catch {
            // Reported in a later turn, like all results, because the caller does not have this
            // object yet.
            source?.cancel()
            loop.later { [weak self] in self?.finish(error) }
        }
    }

    deinit {
        // Before the descriptor closes with its property.
        source?.cancel()
    }

    /// Cancels the attempt. The completion is not called.
    package func cancel() {
        source?.cancel()
        source = nil
        timer = nil
        descriptor = nil
        completion = nil
    }

    private func start(to address: SocketAddress, on loop: EventLoop) throws(Errno) {
        let family = address.isIPv4 ? AF_INET : AF_INET6
        let raw = try SystemCall.retrying { clinux_socket(family, Int32(SOCK_STREAM.rawValue)) }
        descriptor = Descriptor(owning: raw)
        do throws(Errno) {
            try address.withSockaddr(family: family) { pointer, length in
                // Not retried after EINTR: the attempt continues, and a second call would fail with
                // EALREADY.
                Result { () throws(Errno) in
                    guard Glibc.connect(raw, pointer, length) == 0 else { throw Errno.current }
                }
            }.get()
        } catch {
            guard error == Errno(rawValue: EINPROGRESS) || error == .interrupted else { throw error }
        }
        // The first packet has been sent by now.
        try TCP.configure(raw)
        // Also if already connected: the socket is then writable, and the completion is called in a
        // later turn.
        source = try loop.watch(raw, .writable) { [weak self] _ in
            self?.finish(Errno(rawValue: clinux_socket_error(raw)))
        }
    }

    private func finish(_ error: Errno) {
        let completion = self.completion
        // Take it before `cancel` closes it.
        let descriptor = self.descriptor.take()
        cancel()
        guard let descriptor, error.rawValue == 0 else {
            completion?(.failure(error))
            return
        }
        completion?(.success(descriptor))
    }
}
