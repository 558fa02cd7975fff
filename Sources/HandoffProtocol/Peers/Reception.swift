/// What an authenticated announcement meant.
package enum Reception: Sendable, Equatable {
    /// It is newer than what was known and has replaced it; `isFirst` when the device was not there before.
    case new(isFirst: Bool, changes: [PeerChange])

    /// It is the one that is known; only addresses and left-out activities were added.
    case repeated(changes: [PeerChange])

    /// It is older than what is known, or a repetition after goodbye: nothing was taken from it.
    case stale

    /// It is of this very device, or claims to be.
    case own

    /// What became different.
    package var changes: [PeerChange] {
        switch self {
        case .new(_, let changes), .repeated(let changes): changes
        case .stale, .own: []
        }
    }
}
