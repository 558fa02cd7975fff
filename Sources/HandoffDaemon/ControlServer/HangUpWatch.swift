import Glibc
import LoopIO

/// Detects that the peer of a unix socket has closed it completely, while nothing is read from it.
///
/// A stream that does not read watches no events, because a hang-up cannot be masked and would wake
/// the loop continuously. This watch stops after the first one. It has its own descriptor, because
/// epoll accepts each only once.
final class HangUpWatch {
    private let descriptor: Descriptor
    private var source: EventSource?

    /// Returns nil if no descriptor or memory is available. The next write then detects the end.
    init?(_ raw: Int32, on loop: EventLoop, handler: @escaping () -> Void) {
        let copy = fcntl(raw, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { return nil }
        descriptor = Descriptor(owning: copy)
        source = try? loop.watch(copy, .hangUp) { [weak self] _ in
            self?.source?.cancel()
            self?.source = nil
            handler()
        }
        if source == nil { return nil }
    }

    deinit {
        // Cancelled before the descriptor property is released and closed.
        source?.cancel()
    }
}
