import HandoffPairing
import Testing

/// What a window gave to a new session; fails the test when it took none. A macro could not call what changes the window.
func taken(
    _ place: (id: PairingWindow.SessionID, evicted: PairingWindow.SessionID?)?
) throws -> (id: PairingWindow.SessionID, evicted: PairingWindow.SessionID?) {
    try #require(place)
}
