package import HandoffLog
import HandoffProtocol
package import LoopIO
import Timing

/// Notices of what clients can cause without end: the first of a kind are written, then one in a minute, which says how many
/// were not. On the daemon's loop only.
package final class PacedLog {
    /// How many of a kind are written at once.
    package static let burst: UInt64 = 8
    /// How often one is written after that.
    package static let interval = Duration.seconds(60)

    private struct Kind {
        var limit = RateLimit(every: PacedLog.interval, burst: PacedLog.burst)
        /// How many were left out since the last that was written.
        var omitted = 0
    }

    private let loop: EventLoop
    private let log: Logger
    private var kinds: [String: Kind] = [:]
    private var timer: LoopTimer?

    /// Nothing was written yet.
    package init(loop: EventLoop, log: Logger) {
        self.loop = loop
        self.log = log
    }

    /// Writes an entry, or counts it.
    /// - Parameter message: the kind: a fixed sentence, of which there are few.
    package func notice(_ message: StaticString, _ fields: @autoclosure () -> KeyValuePairs<String, String> = [:]) {
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
