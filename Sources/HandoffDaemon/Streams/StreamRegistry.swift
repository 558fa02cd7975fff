package import HandoffModel
import LoopIO

/// The rights to open streams: continuations on this device, and tickets issued to other devices.
/// Plain values; time is a parameter.
package struct StreamRegistry: Sendable {
    /// The right to open streams of an activity of another device that is continued here. It contains
    /// nothing of the activity's content.
    package struct Continued: Sendable, Equatable {
        /// Its origin.
        package let device: DeviceID
        /// The offer under which it was fetched.
        package let activity: ActivityID
        /// The app that continues it. The right to open streams ends with it. Nil if the caller
        /// received the activity itself.
        package let session: SessionID?
        /// Whether the app at the origin supports streams.
        package let hasStreams: Bool

        /// A continuation with these values.
        package init(device: DeviceID, activity: ActivityID, session: SessionID?, hasStreams: Bool) {
            self.device = device
            self.activity = activity
            self.session = session
            self.hasStreams = hasStreams
        }
    }

    /// The right of another device to open a stream of a local activity.
    package struct Grant: Sendable, Equatable {
        /// The device that may open it.
        package let device: DeviceID
        /// The owner's handle of the activity.
        package let activity: ActivityID
        /// The attachment of the owner.
        package let session: SessionID
        /// The resource of the stream; nil for a stream of the apps' own.
        package let resource: StreamResource?

        /// A grant with these values.
        package init(device: DeviceID, activity: ActivityID, session: SessionID, resource: StreamResource? = nil) {
            self.device = device
            self.activity = activity
            self.session = session
            self.resource = resource
        }
    }

    /// The time for which a ticket is valid.
    package static let ticketLife = Duration.seconds(30)
    /// The maximum number of unused tickets of one device.
    package static let maxTickets = 1024
    /// The maximum number of continuations. The oldest is dropped for a new one.
    package static let maxContinuations = 1024

    private var continued: [ContinuationID: Continued] = [:]
    /// The continuations, oldest first.
    private var order: [ContinuationID] = []
    private var tickets: [[UInt8]: (grant: Grant, end: MonotonicInstant)] = [:]

    /// A registry without rights.
    package init() {}

    // MARK: Continuations

    /// Returns the continuation while it may open streams.
    package func continuation(_ id: ContinuationID) -> Continued? { continued[id] }

    /// Records a continuation on this device.
    package mutating func began(_ id: ContinuationID, _ continuation: Continued) {
        continued[id] = continuation
        order.append(id)
        if order.count > Self.maxContinuations { continued[order.removeFirst()] = nil }
    }

    /// Removes a failed continuation.
    package mutating func undone(_ id: ContinuationID) {
        guard continued.removeValue(forKey: id) != nil else { return }
        order.removeAll { $0 == id }
    }

    /// Removes the rights of an app whose session ended.
    package mutating func sessionEnded(_ session: SessionID) {
        keep { $0.session != session }
        tickets = tickets.filter { $0.value.grant.session != session }
    }

    /// Removes the tickets of a withdrawn activity.
    package mutating func activityWithdrawn(_ activity: ActivityID) {
        tickets = tickets.filter { $0.value.grant.activity != activity }
    }

    /// Applies the current members.
    package mutating func accountChanged(live: Set<DeviceID>) {
        keep { live.contains($0.device) }
        tickets = tickets.filter { live.contains($0.value.grant.device) }
    }

    private mutating func keep(_ isKept: (Continued) -> Bool) {
        continued = continued.filter { isKept($0.value) }
        order = order.filter { continued[$0] != nil }
    }

    // MARK: Tickets

    /// Issues a ticket.
    /// - Parameter ticket: 16 random bytes.
    /// - Returns: false if the device has too many unused tickets.
    package mutating func give(_ ticket: [UInt8], for grant: Grant, now: MonotonicInstant) -> Bool {
        if tickets.count >= Self.maxTickets { tickets = tickets.filter { $0.value.end > now } }
        guard ticketCount(of: grant.device, now: now) < Self.maxTickets else { return false }
        tickets[ticket] = (grant, now.advanced(by: Self.ticketLife))
        return true
    }

    /// Returns the number of unused tickets of a device.
    package func ticketCount(of device: DeviceID, now: MonotonicInstant) -> Int {
        tickets.values.count { $0.grant.device == device && $0.end > now }
    }

    /// Redeems a ticket. It is valid once, for its lifetime, and only from the device that it was
    /// issued to.
    package mutating func take(_ ticket: [UInt8], from device: DeviceID, now: MonotonicInstant) -> Grant? {
        guard let entry = tickets[ticket], entry.grant.device == device else { return nil }
        tickets[ticket] = nil
        return entry.end > now ? entry.grant : nil
    }
}
