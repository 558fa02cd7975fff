/// The status of this device in its account, as far as it knows. The raw values are those of the
/// control protocol.
package enum Standing: String, Codable, Sendable, CaseIterable {
    /// An ordinary member.
    case member
    /// The device has imported an exported file, and no member has admitted it yet. If this lasts
    /// while members are reachable, the file was used or closed before. The members then treat this
    /// device as unknown and cannot notify it.
    case joining
    /// It joined with an exported file that another device also used, so neither is admitted.
    case fileUsedTwice
    /// It joined with an exported file that was closed and does not admit it.
    case fileClosed
    /// A member removed it.
    case removed
    /// A device that it removed has also removed it. Neither is a member, because nothing shows
    /// which of them was stolen.
    case removedMutually

    /// The reason why the device is permanently unable to hand off anything, as a sentence fragment
    /// for people; nil if it can or may soon.
    package var problem: String? {
        switch self {
        case .member, .joining: nil
        case .fileUsedTwice:
            """
            another device joined with the same account file, so neither is a member: leave the account and join with \
            a new file
            """
        case .fileClosed:
            """
            the account file that this device used was closed, so this device is not a member: leave the account and \
            join with a new file
            """
        case .removed: "this device was removed from its account"
        case .removedMutually:
            "this device and another one have removed each other from the account, so neither is a member"
        }
    }
}
