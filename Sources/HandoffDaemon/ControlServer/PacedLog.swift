import HandoffModel
import HandoffProtocol
import LoopIO

/// Rate-limited notices about events that clients can cause without limit. The first of a kind are
/// written, then one a minute with the number of omitted ones. On the daemon's loop only.
final class PacedLog {
    /// Number of entries of a kind that are written without delay.
    static let burst: UInt64 = 8
    /// Minimum interval between later entries of a kind.
    static let interval = Duration.seconds(60)

    private struct Kind {
        var limit = RateLimit(every: PacedLog.interval, burst: PacedLog.burst)
        /// Number of entries omitted since the last one written.
        var omitted = 0
    }

    private let loop: EventLoop
    private let log: Logger
    private var kinds: [String: Kind] = [:]
    private var timer: LoopTimer?

    /// Creates a log without entries.
    init(loop: EventLoop, log: Logger) {
        self.loop = loop
        self.log = log
    }

    /// Writes an entry or counts it as omitted.
    /// - Parameter message: the kind, a fixed sentence from a small set.
    func notice(_ message: StaticString, _ fields: @autoclosure () -> KeyValuePairs<String, String> = [:]) {
        let message = "\(message)"
        if kinds[message, default: Kind()].limit.admit(at: loop.now) {
            return log.notice(message, fields())
        }
        kinds[message, default: Kind()].omitted += 1
        guard timer == nil else { return }
        timer = loop.timer(after: Self.interval, accuracy: .seconds(1)) { [weak self] in self?.summarize() }
    }

    private func summarize() {
        timer = nil
        for (message, kind) in kinds where kind.omitted > 0 {
            log.notice(message, ["more": "\(kind.omitted)"])
            kinds[message]?.omitted = 0
        }
    }
}
