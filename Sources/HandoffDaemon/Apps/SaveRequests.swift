import HandoffModel
import LoopIO

/// The pending save requests to apps: their timeouts, and the callers that wait for them. Lives on
/// the daemon's loop.
final class SaveRequests {
    private struct Pending {
        let timer: LoopTimer
        var waiting: [() -> Void] = []
    }

    private let loop: EventLoop
    /// The timeout of the next requests.
    var timeout: Duration
    /// Called when an owner has not answered in time.
    private let onTimeout: (ActivityID) -> Void
    private var pending: [ActivityID: Pending] = [:]

    init(loop: EventLoop, timeout: Duration, onTimeout: @escaping (ActivityID) -> Void) {
        self.loop = loop
        self.timeout = timeout
        self.onTimeout = onTimeout
    }

    /// Starts the timeout of a request, unless it is already pending.
    ///
    /// - Parameter completion: called when the request has ended.
    func begin(_ id: ActivityID, completion: (() -> Void)? = nil) {
        if pending[id] == nil {
            let timer = loop.timer(after: timeout) { [unowned self] in
                onTimeout(id)
                end(id)
            }
            pending[id] = Pending(timer: timer)
        }
        if let completion { pending[id]?.waiting.append(completion) }
    }

    /// Ends a request that was answered or has timed out, or whose activity was resigned or has
    /// ended.
    func end(_ id: ActivityID) {
        guard let ended = pending.removeValue(forKey: id) else { return }
        ended.timer.cancel()
        for completion in ended.waiting { completion() }
    }
}
