/// The question whether a device is still there: its latest advert is sent again and wants an answer.
enum Probe: Sendable, Equatable {
    /// `steps` probes were due and `sent` of them could be sent; the next step, or the verdict, is at `due`.
    /// `hasFailedCall` when a call to the device failed too, so that one unanswered probe is enough.
    case asking(steps: Int, sent: Int, due: BootInstant, hasFailedCall: Bool)

    /// Datagrams cannot tell; a connection was asked for and its outcome decides.
    case calling

    /// Time until each next step; after the last of them the verdict falls.
    static let waits: [Duration] = [.milliseconds(500), .seconds(1), .milliseconds(1500)]

    /// Time that a device whose service has vanished has to show itself under another label.
    static let patience = Duration.seconds(3)

    /// Time between the beginnings of two probings of one device.
    static let interval = Duration.seconds(5)

    /// When the next step is due; nil while a call decides.
    var due: BootInstant? {
        switch self {
        case .asking(_, _, let due, _): due
        case .calling: nil
        }
    }
}
