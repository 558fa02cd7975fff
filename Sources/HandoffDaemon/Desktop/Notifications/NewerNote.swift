import HandoffControl
import HandoffHandlers
package import HandoffModel
import LoopIO

/// A newer state of an activity that the user has chosen, prepared for display. Plain values.
package struct NewerNote: Sendable, Equatable {
    /// Its offer; nil if it is on this device, or cannot be continued here.
    let offer: NotificationOffer?
    /// The name of its device; nil for this one.
    private let device: String?
    private let time: String

    /// - Parameter now: the current time, in seconds since 1970.
    package init(_ newer: NewerState, offer: NotificationOffer?, now: Double) {
        self.offer = offer
        device = newer.here ? nil : newer.deviceName
        time = LocalTime.short(newer.since, now: now)
    }

    /// Names the device that has the newer state of the activity with this title.
    func headline(_ title: Phrase.Text) -> Phrase {
        guard let device else { return .phrase("{title} is newer on this device", ["title": [title]]) }
        let name = NotificationText.line(device).map { Phrase.Text.verbatim($0) } ?? .message("another device")
        return .phrase("{title} is newer on {device}", ["title": [title], "device": [name]])
    }

    /// The time since which that device has it.
    var age: Phrase { .phrase("since {time}", ["time": [.verbatim(time)]]) }
}
