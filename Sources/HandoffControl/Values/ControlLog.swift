package import HandoffModel

/// The results of `ReadLog`: a page of entries.
package struct ControlLogPage: ControlValue {
    /// The entries, oldest first.
    package var entries: [ControlLogEntry]
    /// True if later ones follow.
    package var hasMore: Bool

    package init(entries: [ControlLogEntry], hasMore: Bool) {
        self.entries = entries
        self.hasMore = hasMore
    }
}

/// One entry of the continuation log: which activity was continued by which device, and when. It
/// contains no content of the activity: no title, no page, no payload.
package struct ControlLogEntry: ControlValue {
    /// The kind of event.
    package enum Event: String, Codable, Sendable, CaseIterable {
        /// An activity was continued, or this failed.
        case continuation
        /// The state of an activity was sent to a device that requested it.
        case payload
        /// A continuation stream ended.
        case stream
    }

    /// The direction in which the activity was sent.
    package enum Direction: String, Codable, Sendable, CaseIterable {
        /// From another device to this one.
        case `in`
        /// From this device to another one.
        case out
    }

    /// Increases from 1, also across restarts.
    package var number: Int
    /// The time of the event, in seconds since 1970.
    package var time: Double
    /// The kind of event.
    package var event: ReplyWord<Event>
    /// The direction in which the activity was sent.
    package var direction: ReplyWord<Direction>
    /// The type of the activity, or nil for streams.
    package var type: String?
    /// The other device.
    package var device: DeviceID
    /// The name of that device at the time.
    package var deviceName: String
    /// The local app that published or continued it. Nil if it was a command, or no app received
    /// it.
    package var app: String?
    /// `continued`, `given`, the outcome of a stream, or the reason of a failure.
    package var outcome: String
    /// The number of equal events combined in this entry; otherwise 1.
    package var count: Int
    /// Total bytes that this side sent over a stream.
    package var sent: Int64?
    /// Total bytes that this side received over a stream.
    package var received: Int64?

    /// Creates an entry. An empty app name becomes nil.
    package init(
        number: Int = 0, time: Double = 0, event: Event, direction: Direction, type: String? = nil, device: DeviceID,
        deviceName: String, app: String? = nil, outcome: String, count: Int = 1, sent: Int64? = nil,
        received: Int64? = nil
    ) {
        self.number = number
        self.time = time
        self.event = ReplyWord(event)
        self.direction = ReplyWord(direction)
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
