/// The streams with one device: the numbers of the open ones, and those that are being opened.
struct DeviceStreams {
    /// The number of open streams.
    private(set) var count = 0
    /// The number of those whose connection has not presented a ticket.
    private(set) var countWithoutTicket = 0
    /// The streams that are being opened to the device.
    var openings = OpeningQueue()

    /// Counts a stream that was opened.
    mutating func opened() { count += 1 }

    /// Counts a connection that must present a ticket.
    mutating func accepted() { countWithoutTicket += 1 }

    /// Counts the end of an open stream.
    mutating func ended() { count = max(0, count - 1) }

    /// Counts a connection that has presented a ticket, or has ended without one.
    mutating func ticketPresented() { countWithoutTicket = max(0, countWithoutTicket - 1) }

    /// True if there are no streams.
    var isEmpty: Bool { count == 0 && countWithoutTicket == 0 && openings.isEmpty }
}

/// The streams that are being opened to one device: a few at a time, the others queued in order.
struct OpeningQueue {
    /// The maximum number of concurrent openings.
    static let maxAtOnce = 12
    /// The maximum number of queued openings.
    static let maxWaiting = 1024

    private var running: [ObjectIdentifier: StreamOpening] = [:]
    private var waiting: [StreamOpening] = []

    /// True if the queue has room.
    var hasRoom: Bool { waiting.count < Self.maxWaiting }

    /// Adds an opening at the end.
    mutating func add(_ opening: StreamOpening) {
        waiting.append(opening)
    }

    /// Returns the next opening that may start now, and counts it as running.
    mutating func next() -> StreamOpening? {
        guard running.count < Self.maxAtOnce, !waiting.isEmpty else { return nil }
        let opening = waiting.removeFirst()
        running[ObjectIdentifier(opening)] = opening
        return opening
    }

    /// Removes an opening that has ended.
    mutating func ended(_ opening: StreamOpening) {
        running[ObjectIdentifier(opening)] = nil
    }

    /// True if nothing is running or queued.
    var isEmpty: Bool { running.isEmpty && waiting.isEmpty }

    /// All openings, running or queued.
    var all: [StreamOpening] { running.values + waiting }
}
