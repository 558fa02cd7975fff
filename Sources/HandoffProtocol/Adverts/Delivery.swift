import HandoffModel

/// The delivery of the current advert to one device, or the search for a lost one; a state of
/// ``AdvertMachine``.
struct Delivery: Sendable, Equatable {
    enum State: Sendable, Equatable {
        /// The device has the current advert, or there is no address to send it to.
        case settled

        /// The current advert will be sent at `due`, because the previous one was sent very
        /// recently.
        case coalescing(due: MonotonicInstant)

        /// The advert was sent `count` times to proved addresses, and is repeated at `due` unless
        /// acknowledged.
        case awaiting(count: Int, due: MonotonicInstant)

        /// The advert was sent to unproved addresses, which get no repeats. At `due`, a connection
        /// is tried.
        case greeting(due: MonotonicInstant)

        /// A connection was requested. Nothing else is done for this advert.
        case byConnection
    }

    var state = State.settled

    var lastSent: MonotonicInstant?

    /// The label for which the last advert was sealed. A device with another label cannot open it.
    var sealedFor: Label?

    /// True if the last advert was not acknowledged in time. Adverts are then also sent by
    /// connection until one is acknowledged.
    var isBlocked = false

    /// The running probe that checks whether the device is still online.
    var probe: Probe?

    /// The start of the last probe, which limits the rate of probes after forged removals.
    var lastProbe: MonotonicInstant?

    /// The rate of acknowledgements to the device, never more than it could need.
    var acknowledgements = RateLimit(perSecond: 10)

    /// The search since the device was last lost. It continues only while the table has the device
    /// as lost.
    var search: Search?

    /// The next time at which there is work for the device while it is online.
    var deadline: MonotonicInstant? {
        let own: MonotonicInstant? =
            switch state {
            case .settled, .byConnection: nil
            case .coalescing(let due), .awaiting(_, let due), .greeting(let due): due
            }
        return [own, probe?.due].compactMap { $0 }.min()
    }
}

/// A check whether a device is still online. Its latest advert is sent again and must be
/// acknowledged.
enum Probe: Sendable, Equatable {
    /// `steps` probes were due, and `sent` of them could be sent. The next step, or the decision,
    /// is at `due`. If `hasFailedCall`, a connection attempt also failed, so one unanswered probe
    /// is sufficient.
    case asking(steps: Int, sent: Int, due: MonotonicInstant, hasFailedCall: Bool)

    /// Datagrams are inconclusive. A connection was requested, and its outcome decides.
    case calling

    /// The delays before each next step. After the last, the outcome is decided.
    static let waits: [Duration] = [.milliseconds(500), .seconds(1), .milliseconds(1500)]

    /// The time for a device whose service disappeared to reappear under another label.
    static let timeout = Duration.seconds(3)

    /// The minimum time between the starts of two probes of one device.
    static let interval = Duration.seconds(5)

    /// The time of the next step; nil while a connection decides.
    var due: MonotonicInstant? {
        switch self {
        case .asking(_, _, let due, _): due
        case .calling: nil
        }
    }
}
