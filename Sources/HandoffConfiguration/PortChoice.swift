/// The port that the daemon listens on, for TCP and UDP alike.
package enum PortChoice: Sendable, Equatable {
    /// The default port, or one of the nine after it when other users of the machine have taken it, or any.
    case standard

    /// A free port that the kernel chooses.
    case any

    /// This port and no other: when it is taken, the daemon does not start.
    case fixed(UInt16)
}
