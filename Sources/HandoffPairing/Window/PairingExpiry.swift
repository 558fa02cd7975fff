/// What the passing of time asks the driver of a ``PairingWindow`` to do.
package enum PairingExpiry: Sendable, Hashable {
    /// The session has not proved itself in time: close it without a word.
    case late(PairingWindow.SessionID)
    /// The window is closed for this session: refuse it with ``PairingRefusal/windowClosed``.
    case closed(PairingWindow.SessionID)
    /// The window is over: stop listening.
    case over
}
