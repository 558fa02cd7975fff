/// What it means to a ``PairingWindow`` that a session has ended.
package enum PairingLoss: Sendable, Hashable {
    /// Nothing: it had not proved the code.
    case none
    /// The device that was being asked about went away; the window goes on with the same code and link.
    case gone
    /// The window is over, as the session took it with it: handed over, declined, or gone after its time.
    case over
}
