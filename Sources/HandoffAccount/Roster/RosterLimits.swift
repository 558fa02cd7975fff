/// What a hostile member can make the others store, at most; honest accounts stay far below.
///
/// Names and epoch records keep the greatest of their key, whatever the order, so that limiting commutes with merging; epoch
/// records of other removed digests than the present one mean nothing any more, and go.
/// The other limits are first come, first served: beyond them devices may differ, and say so loudly.
package enum RosterLimits {
    /// Devices and tickets that an account can ever know, removed ones included.
    package static let keys = 256
    /// Admissions (add, ticket, use) by one signer.
    package static let admissions = 64
    /// Subjects that one signer may remove.
    package static let removals = 64
    /// Removals by one signer of one subject. A second is never honest: it is kept as the proof of that, and both lose
    /// their `keeps`. More would say nothing new.
    static let removalsOfSubject = 2
    /// Bytes of all statements of an account, as ``Statement/encodedCount`` has them.
    package static let bytes = 8 * 1024 * 1024
    /// Subjects that a signer may still remove when ``bytes`` are used up, so that a removal always fits.
    package static let removalsWhenFull = 8
}
