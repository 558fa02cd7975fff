import HandoffPairing
import Testing

/// Requires that a window accepted a new session. Needed because a macro cannot call mutating
/// methods of the window.
func taken(
    _ place: (id: PairingWindow.SessionID, evicted: PairingWindow.SessionID?)?
) throws -> (id: PairingWindow.SessionID, evicted: PairingWindow.SessionID?) {
    try #require(place)
}
