package import HandoffJSON
package import HandoffModel

/// The results of `ReadLog`: some entries, and whether there are more.
package struct ControlLogPage: Sendable, Equatable {
    /// The entries, the oldest first.
    package var entries: [ControlLogEntry]
    /// Whether later ones follow.
    package var hasMore: Bool

    /// Results with these properties.
    package init(entries: [ControlLogEntry], hasMore: Bool) {
        self.entries = entries
        self.hasMore = hasMore
    }

    /// Reads the results; throws `invalidParameter`.
    package init(json: JSONObject) throws(VarlinkError) {
        let fields = Fields(json)
        var entries: [ControlLogEntry] = []
        for entry in try fields.list("entries") { entries.append(try ControlLogEntry(entry)) }
        self.init(entries: entries, hasMore: try fields.flag("hasMore"))
    }

    /// The results on the socket.
    package var json: JSONObject {
        ["entries": .array(entries.map { .object($0.json) }), "hasMore": .bool(hasMore)]
    }
}

/// One entry of the log of continuations: who continued what, and when. It holds nothing of what was continued: no
/// title, no page, no payload.
package struct ControlLogEntry: Sendable, Equatable {
    /// What came to an end.
    package enum Event: String, Sendable {
        /// An activity was continued, or that came to nothing.
        case continuation
        /// The state of an activity was given to a device that asked for it.
        case payload
        /// A continuation stream ended.
        case stream
    }

    /// Where the activity went.
    package enum Direction: String, Sendable {
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

    /// Reads an entry; throws `invalidParameter`.
    package init(_ fields: Fields) throws(VarlinkError) {
        guard let event = Event(rawValue: try fields.text("event")) else { throw fields.invalid("event") }
        guard let direction = Direction(rawValue: try fields.text("direction")) else {
            throw fields.invalid("direction")
        }
        self.init(
            number: try fields.integer("number"), time: try fields.number("time"), event: event, direction: direction,
            type: try fields.optionalText("type"), device: try fields.id("device"),
            deviceName: try fields.text("deviceName"), app: try fields.optionalText("app"),
            outcome: try fields.text("outcome"), count: try fields.integer("count"),
            sent: try fields.optionalInteger("sent"), received: try fields.optionalInteger("received"))
    }

    /// The entry on the socket, and in the file.
    package var json: JSONObject {
        [
            "number": .integer(Int64(number)), "time": .real(time), "event": .string(event.rawValue),
            "direction": .string(direction.rawValue), "type": .nullable(type), "device": .string(device.hex),
            "deviceName": .string(deviceName), "app": .nullable(app), "outcome": .string(outcome),
            "count": .integer(Int64(count)), "sent": sent.map { .integer($0) } ?? .null,
            "received": received.map { .integer($0) } ?? .null,
        ]
    }
}
