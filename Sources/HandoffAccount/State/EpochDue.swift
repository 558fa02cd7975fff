/// That this device should make a new epoch, unless something changes before its turn comes.
package struct EpochDue: Sendable, Equatable {
    /// Why a new epoch is needed.
    package enum Reason: Sendable, Equatable {
        /// No record counts, as after removals that crossed.
        case missing
        /// The key in force may be held by a device that is no member any more.
        case exposed
        /// A record holds, but nobody has handed over its key: its maker may be gone.
        case withheld
        /// The key is in force for more than 30 days.
        case old
    }

    /// Why.
    package let reason: Reason
    /// How long to wait before asking again, and making the epoch if the answer is the same. It grows with the rank of the
    /// device among the members, so that mostly one of them makes the epoch; several do no harm.
    package let after: Duration
}
