/// A side of a pairing session; the numbers are signed and part of nonces, and never change.
package enum PairingRole: UInt8, Sendable, CaseIterable {
    /// The new device, which calls; `A` of SPAKE2.
    case joiner = 0
    /// The member, which listens; `B` of SPAKE2.
    case inviter = 1

    /// The side at the other end.
    package var other: PairingRole {
        switch self {
        case .joiner: .inviter
        case .inviter: .joiner
        }
    }
}
