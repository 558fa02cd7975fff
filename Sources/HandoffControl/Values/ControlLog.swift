package import HandoffModel

/// The results of `ReadLog`: some entries, and whether there are more.
package struct ControlLogPage: ControlValue {
    /// The entries, the oldest first.
    package var entries: [ControlLogEntry]
    /// Whether later ones follow.
    package var hasMore: Bool

    /// Results with these properties.
    package init(entries: [ControlLogEntry], hasMore: Bool) {
        self.entries = entries
        self.hasMore = hasMore
    }
}

/// One entry of the log of continuations: who continued what, and when. It holds nothing of what was continued: no
/// title, no page, no payload.
package struct ControlLogEntry: ControlValue {
    /// What came to an end.
    package enum Event: String, Codable, Sendable {
        /// An activity was continued, or that came to nothing.
        case continuation
        /// The state of an activity was given to a device that asked for it.
        case payload
        /// A continuation stream ended.
        case stream
    }

    /// Where the activity went.
    package enum Direction: String, Codable, Sendable {
        /// From another device to this one.
        case `in`
        /// From this device to another one.
        case out
    }

    /// Counts up from 1, also over restarts.
    package var number: Int
    /// When it was, in seconds since 1970.
    package var time: Double
    /// What came to an end.
    package var event: Event
    /// Where the activity went.
    package var direction: Direction
    /// The type of the activity; nil for streams.
    package var type: String?
    /// The other device.
    package var device: DeviceID
    /// What it was called then.
    package var deviceName: String
    /// The app here that had it or took it over; nil when it was a command, or nobody got it.
    package var app: String?
    /// `continued`, `given`, the outcome of a stream, or the reason of a failure.
    package var outcome: String
    /// How often it was, where what many of a kind had to say was put together; 1 else.
    package var count: Int
    /// Bytes that this side sent over a stream, all together.
    package var sent: Int64?
    /// Bytes that this side received over a stream, all together.
    package var received: Int64?

    /// An entry with these properties; an app without a name is none.
    package init(
        number: Int = 0, time: Double = 0, event: Event, direction: Direction, type: String? = nil, device: DeviceID,
        deviceName: String, app: String? = nil, outcome: String, count: Int = 1, sent: Int64? = nil,
        received: Int64? = nil
    ) {
        self.number = number
        self.time = time
        self.event = event
        self.direction = direction
        self.type = type
        self.device = device
        self.deviceName = deviceName
        self.app = app.flatMap { $0.isEmpty ? nil : $0 }
        self.outcome = outcome
        self.count = count
        self.sent = sent
        self.received = received
    }
}
