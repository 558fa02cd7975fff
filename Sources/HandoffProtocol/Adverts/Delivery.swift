import Timing

/// How far the present advert has come on its way to one device; a state of ``AdvertMachine``.
struct Delivery: Sendable, Equatable {
    enum State: Sendable, Equatable {
        /// The device has the present advert, or there is nobody to send it to.
        case settled

        /// The present advert will be sent at `due`: the one before it went out a moment ago.
        case coalescing(due: MonotonicInstant)

        /// It was sent `count` times to proved addresses, and is repeated at `due` unless acknowledged.
        case awaiting(count: Int, due: MonotonicInstant)

        /// It was sent to addresses that have proved nothing, which get no repeats; at `due` a connection is tried.
        case greeting(due: MonotonicInstant)

        /// A connection was asked for; nothing more happens for this advert.
        case byConnection
    }

    var state = State.settled

    /// When an advert was last sent to the device.
    var lastSent: MonotonicInstant?

    /// The label that the last advert was sealed for; a device with another one cannot open it.
    var sealedFor: Label?

    /// The last advert was not acknowledged in time: the next ones go by connection too, until one is.
    var isBlocked = false

    /// Set while it is being found out whether the device is still there.
    var probe: Probe?

    /// When the last probing began, so that forged removals do not cause one after the other.
    var lastProbe: MonotonicInstant?

    /// Acknowledgements to the device: never more than it could need.
    var acknowledgements = RateLimit(perSecond: 10)

    /// The next moment at which something is to be done for the device.
    var deadline: MonotonicInstant? {
        let own: MonotonicInstant? =
            switch state {
            case .settled, .byConnection: nil
            case .coalescing(let due), .awaiting(_, let due), .greeting(let due): due
            }
        return [own, probe?.due].compactMap { $0 }.min()
    }
}

/// The question whether a device is still there: its latest advert is sent again and wants an answer.
enum Probe: Sendable, Equatable {
    /// `steps` probes were due and `sent` of them could be sent; the next step, or the verdict, is at `due`.
    /// `hasFailedCall` when a call to the device failed too, so that one unanswered probe is enough.
    case asking(steps: Int, sent: Int, due: MonotonicInstant, hasFailedCall: Bool)

    /// Datagrams cannot tell; a connection was asked for and its outcome decides.
    case calling

    /// Time until each next step; after the last of them the verdict falls.
    static let waits: [Duration] = [.milliseconds(500), .seconds(1), .milliseconds(1500)]

    /// Time that a device whose service has vanished has to show itself under another label.
    static let timeout = Duration.seconds(3)

    /// Time between the beginnings of two probings of one device.
    static let interval = Duration.seconds(5)

    /// When the next step is due; nil while a call decides.
    var due: MonotonicInstant? {
        switch self {
        case .asking(_, _, let due, _): due
        case .calling: nil
        }
    }
}
