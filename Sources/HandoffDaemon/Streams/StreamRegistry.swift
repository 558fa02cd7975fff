package import HandoffModel
import LoopIO
package import Timing

/// Who may open streams: continuations of this device, and tickets that it gave to others. Plain values; time is a parameter.
package struct StreamRegistry: Sendable {
    /// An activity of another device that is continued here.
    package struct Continued: Sendable, Equatable {
        /// Its origin.
        package let device: DeviceID
        /// The offer under which it was fetched.
        package let activity: ActivityID
        /// The app that continues it, with which the right to open streams ends; nil for a caller that took it itself.
        package let session: SessionID?
        /// Whether the app at the origin takes streams.
        package let hasStreams: Bool

        /// A continuation with these values.
        package init(device: DeviceID, activity: ActivityID, session: SessionID?, hasStreams: Bool) {
            self.device = device
            self.activity = activity
            self.session = session
            self.hasStreams = hasStreams
        }
    }

    /// An activity of this device, of which another one may open a stream.
    package struct Grant: Sendable, Equatable {
        /// Who may.
        package let device: DeviceID
        /// The owner's handle of the activity.
        package let activity: ActivityID
        /// The attachment of the owner.
        package let session: SessionID
        /// What the stream is for; nil for the apps' own.
        package let resource: StreamResource?

        /// A grant with these values.
        package init(device: DeviceID, activity: ActivityID, session: SessionID, resource: StreamResource? = nil) {
            self.device = device
            self.activity = activity
            self.session = session
            self.resource = resource
        }
    }

    /// How long a ticket may be shown.
    package static let ticketLife = Duration.seconds(30)
    /// Tickets of one device that it has not shown.
    package static let maxTickets = 1024
    /// Continuations that are remembered; the oldest one is forgotten for a new one.
    package static let maxContinuations = 1024

    private var continued: [ContinuationID: Continued] = [:]
    /// The continuations in their order.
    private var order: [ContinuationID] = []
    private var tickets: [[UInt8]: (grant: Grant, end: MonotonicInstant)] = [:]

    /// Nobody may.
    package init() {}

    // MARK: Continuations

    /// The continuation, as long as streams may be opened by it.
    package func continuation(_ id: ContinuationID) -> Continued? { continued[id] }

    /// An activity is continued here.
    package mutating func began(_ id: ContinuationID, _ continuation: Continued) {
        continued[id] = continuation
        order.append(id)
        if order.count > Self.maxContinuations { continued[order.removeFirst()] = nil }
    }

    /// A continuation came to nothing.
    package mutating func undone(_ id: ContinuationID) {
        guard continued.removeValue(forKey: id) != nil else { return }
        order.removeAll { $0 == id }
    }

    /// An app has gone.
    package mutating func sessionEnded(_ session: SessionID) {
        keep { $0.session != session }
        tickets = tickets.filter { $0.value.grant.session != session }
    }

    /// An activity of this device was withdrawn: its tickets are void.
    package mutating func activityWithdrawn(_ activity: ActivityID) {
        tickets = tickets.filter { $0.value.grant.activity != activity }
    }

    /// Takes the members as they are now.
    package mutating func accountChanged(live: Set<DeviceID>) {
        keep { live.contains($0.device) }
        tickets = tickets.filter { live.contains($0.value.grant.device) }
    }

    private mutating func keep(_ isKept: (Continued) -> Bool) {
        continued = continued.filter { isKept($0.value) }
        order = order.filter { continued[$0] != nil }
    }

    // MARK: Tickets

    /// Gives a ticket out.
    /// - Parameter ticket: 16 random bytes.
    /// - Returns: false when the device has too many that it does not show.
    package mutating func give(_ ticket: [UInt8], for grant: Grant, now: MonotonicInstant) -> Bool {
        if tickets.count >= Self.maxTickets { tickets = tickets.filter { $0.value.end > now } }
        guard ticketCount(of: grant.device, now: now) < Self.maxTickets else { return false }
        tickets[ticket] = (grant, now.advanced(by: Self.ticketLife))
        return true
    }

    /// Tickets that a device has, and has not shown.
    package func ticketCount(of device: DeviceID, now: MonotonicInstant) -> Int {
        tickets.values.count { $0.grant.device == device && $0.end > now }
    }

    /// Takes a ticket that a device shows: once, in time, and from the device that it was given to.
    package mutating func take(_ ticket: [UInt8], from device: DeviceID, now: MonotonicInstant) -> Grant? {
        guard let entry = tickets[ticket], entry.grant.device == device else { return nil }
        tickets[ticket] = nil
        return entry.end > now ? entry.grant : nil
    }
}
