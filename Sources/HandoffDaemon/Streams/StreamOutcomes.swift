package import HandoffControl
package import HandoffControlServer
package import HandoffModel
import HandoffStreams
import LoopIO
package import Timing

/// Streams that are over, for whoever asks how they ended, and those who wait for the end of others. On the daemon's loop.
package struct StreamOutcomes {
    /// Time for which an outcome is kept: an app may look only once its user has returned to it.
    private static let lifetime = Duration.seconds(3600)
    /// Outcomes that are kept; the oldest is dropped for a new one.
    private static let maxKept = 4096

    private var ended: [StreamID: (reply: AwaitStreamReply, until: MonotonicInstant)] = [:]
    private var order: [StreamID] = []
    private var waiting: [StreamID: [ObjectIdentifier: ControlCall]] = [:]

    /// No stream has ended yet.
    package init() {}

    /// How a stream ended, if that is not too long ago.
    package mutating func outcome(of id: StreamID, now: MonotonicInstant) -> AwaitStreamReply? {
        guard let entry = ended[id], entry.until > now else { return nil }
        return entry.reply
    }

    /// Keeps a call until the stream is over.
    mutating func wait(for id: StreamID, _ call: ControlCall) {
        waiting[id, default: [:]][ObjectIdentifier(call)] = call
    }

    /// The client of a call that waited is gone.
    mutating func forget(_ call: ControlCall, of id: StreamID) {
        waiting[id]?[ObjectIdentifier(call)] = nil
        if waiting[id]?.isEmpty ?? false { waiting[id] = nil }
    }

    /// A stream is over.
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
    /// What is told of a stream that is over.
    /// - Parameter device: what the other device is called.
    init(_ report: StreamReport, device: String) {
        let (outcome, message): (StreamOutcome, String) =
            switch report.end {
            case .ended: (.ended, "both directions ended in order")
            case .resetHere(.cancelled): (.cancelled, "the app here closed it")
            case .resetHere(.unknown), .resetThere(.unknown): (.reset, "\(device) ended it for an unknown reason")
            case .resetThere(.cancelled): (.reset, "the app on \(device) closed it")
            case .resetHere(.refused): (.refused, "no app here took it")
            case .resetThere(.refused): (.refused, "no app on \(device) took it")
            case .resetHere(.notMember), .resetThere(.notMember):
                (.removed, "this device and \(device) are no longer in one account")
            case .resetHere(.idle), .resetThere(.idle): (.idle, "nothing was sent for too long")
            case .resetHere(.stopping): (.stopped, "the daemon here ended")
            case .resetThere(.stopping): (.stopped, "the daemon on \(device) ended")
            case .resetHere(.failed): (.failed, "a file here failed")
            case .resetThere(.failed): (.failed, "a file on \(device) failed")
            case .gone(let cause): (.gone, "the connection to \(device) is gone: \(cause)")
            }
        self.init(
            outcome: outcome, message: message, sent: Int(clamping: report.sent),
            received: Int(clamping: report.received))
    }
}
