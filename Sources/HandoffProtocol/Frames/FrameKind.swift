/// What the body of a ``Frame`` is; the numbers cross the network and never change.
package enum FrameKind: UInt8, Sendable, CaseIterable {
    /// Signed statements of the roster, binary.
    case statements = 1

    /// ``Hello``, JSON.
    case hello = 2

    /// ``PeerRequest``, JSON.
    case request = 3

    /// ``PeerResponse``, JSON.
    case response = 4

    /// ``PeerNotice``, JSON.
    case notice = 5

    /// The account key of the epoch in force, binary.
    case epochKey = 6
}
