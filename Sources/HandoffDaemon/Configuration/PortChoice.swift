/// The port on which the daemon listens, for TCP and UDP.
package enum PortChoice: Sendable, Equatable {
    /// The default port, one of the nine after it if other users of the machine occupy it, or any.
    case standard

    /// A free port chosen by the kernel.
    case any

    /// Only this port. The daemon does not start if it is occupied.
    case fixed(UInt16)
}
