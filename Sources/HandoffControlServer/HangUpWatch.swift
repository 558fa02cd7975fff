import Glibc
import LoopIO

/// Notices that the other end of a unix socket is gone altogether, while nothing is read from it.
///
/// A stream that does not read watches for nothing, since a hang-up cannot be masked and would wake the loop for ever.
/// This watch ends itself with the first one. It has a descriptor of its own: epoll takes each only once.
final class HangUpWatch {
    private let descriptor: Descriptor
    private var source: EventSource?

    /// Nil when there is no descriptor or memory left; then the end is noticed by the next write.
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
        // Before the descriptor, which closes with its property.
        source?.cancel()
    }
}
