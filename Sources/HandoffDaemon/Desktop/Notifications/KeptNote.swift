package import HandoffControl
import HandoffHandlers
import HandoffModel
import LoopIO

/// The state of the device of a kept activity, prepared for display. Plain values.
package struct KeptNote: Sendable, Equatable {
    /// The state of the device.
    let state: ControlKept.State
    /// True if this device has closed the activity itself.
    private let isOwn: Bool
    /// The time at which the device went to sleep; nil if it did not announce that.
    private let since: String?
    /// The time at which the state was saved.
    private let time: String
    /// True if the activity has files and streams, which only its device could send.
    private let hasStreams: Bool

    /// - Parameters:
    ///   - isOwn: true if the activity is of this device.
    ///   - now: the current time, in seconds since 1970.
    package init(_ kept: ControlKept, hasStreams: Bool, isOwn: Bool = false, now: Double) {
        state = kept.state.known ?? .offline
        self.isOwn = isOwn
        since = kept.since.map { LocalTime.short($0, now: now) }
        time = LocalTime.short(kept.asOf, now: now)
        self.hasStreams = hasStreams
    }

    /// The state as a sentence fragment.
    private var summary: Phrase {
        let time = [Phrase.Text.verbatim(time)]
        return switch (state, since) {
        case (.asleep, let since?):
            .phrase("asleep since {since}, as of {time}", ["since": [.verbatim(since)], "time": time])
        case (.asleep, nil): .phrase("asleep, as of {time}", ["time": time])
        case (.offline, _): .phrase("offline, as of {time}", ["time": time])
        case (.ended, _) where isOwn: .phrase("closed here at {time}", ["time": time])
        case (.ended, _): .phrase("closed there at {time}", ["time": time])
        }
    }

    /// The state, and what is not available, as sentence fragments.
    ///
    /// - Parameter device: the name of the device.
    func phrases(_ device: Phrase.Text) -> [Phrase] {
        guard hasStreams else { return [summary] }
        return [
            summary,
            state == .ended
                ? .phrase("files and streams no longer available")
                : .phrase("files and streams not available until {device} is back", ["device": [device]]),
        ]
    }
}
