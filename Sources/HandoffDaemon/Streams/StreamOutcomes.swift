package import HandoffControl
package import HandoffModel
import HandoffStreams
import LoopIO

/// The outcomes of ended streams, and the calls that wait for the end of others. On the daemon's
/// loop.
package struct StreamOutcomes {
    /// The time for which an outcome is kept. An app may request it only after its user returns to
    /// it.
    private static let lifetime = Duration.seconds(3600)
    /// The maximum number of outcomes. The oldest is dropped for a new one.
    private static let maxKept = 4096

    private var ended: [StreamID: (reply: AwaitStreamReply, until: MonotonicInstant)] = [:]
    private var order: [StreamID] = []
    private var waiting: [StreamID: [ObjectIdentifier: ControlCall]] = [:]

    package init() {}

    /// Returns the outcome of a stream that has ended recently enough.
    package mutating func outcome(of id: StreamID, now: MonotonicInstant) -> AwaitStreamReply? {
        guard let entry = ended[id], entry.until > now else { return nil }
        return entry.reply
    }

    /// Keeps a call until the stream ends.
    mutating func wait(for id: StreamID, _ call: ControlCall) {
        waiting[id, default: [:]][ObjectIdentifier(call)] = call
    }

    /// Removes a waiting call whose client has disconnected.
    mutating func forget(_ call: ControlCall, of id: StreamID) {
        waiting[id]?[ObjectIdentifier(call)] = nil
        if waiting[id]?.isEmpty ?? false { waiting[id] = nil }
    }

    /// Records the outcome of a stream.
    /// - Returns: the calls that waited for it.
    package mutating func ended(_ id: StreamID, _ reply: AwaitStreamReply, now: MonotonicInstant) -> [ControlCall] {
        while let oldest = order.first, order.count >= Self.maxKept || (ended[oldest]?.until ?? now) <= now {
            ended[oldest] = nil
            order.removeFirst()
        }
        ended[id] = (reply, now.advanced(by: Self.lifetime))
        order.append(id)
        return waiting.removeValue(forKey: id).map { Array($0.values) } ?? []
    }
}

extension AwaitStreamReply {
    /// The reply for a stream that has ended.
    /// - Parameter device: the name of the other device.
    init(_ report: StreamReport, device: String) {
        let (outcome, message): (StreamOutcome, String) =
            switch report.end {
            case .ended: (.ended, "both directions ended in order")
            case .resetHere(.cancelled): (.cancelled, "the app here closed it")
            case .resetHere(.unknown), .resetThere(.unknown): (.reset, "\(device) ended it for an unknown reason")
            case .resetThere(.cancelled): (.reset, "the app on \(device) closed it")
            case .resetHere(.refused): (.refused, "no app here accepted it")
            case .resetThere(.refused): (.refused, "no app on \(device) accepted it")
            case .resetHere(.notMember), .resetThere(.notMember):
                (.removed, "this device and \(device) are no longer in the same account")
            case .resetHere(.idle), .resetThere(.idle): (.idle, "nothing was sent for too long")
            case .resetHere(.stopping): (.stopped, "the daemon here ended")
            case .resetThere(.stopping): (.stopped, "the daemon on \(device) ended")
            case .resetHere(.failed): (.failed, "a file here failed")
            case .resetThere(.failed): (.failed, "a file on \(device) failed")
            case .gone(let cause): (.gone, "the connection to \(device) was lost: \(cause)")
            }
        self.init(
            outcome: outcome, message: message, sent: Int(clamping: report.sent),
            received: Int(clamping: report.received))
    }
}
