/// What this device is in its account, as far as it knows; the raw values are the words of the control interface.
package enum Standing: String, Codable, Sendable, CaseIterable {
    /// A member like any other.
    case member
    /// It has imported an exported file, and no member has let it in yet. If that lasts while members are in reach, the file was
    /// used or closed before: to them this device is a stranger, and nobody can tell it so.
    case joining
    /// It joined by an exported file that another device has used too, so neither is admitted.
    case fileUsedTwice
    /// It joined by an exported file that was closed and does not admit it.
    case fileClosed
    /// A member removed it.
    case removed
    /// A device that it has removed has removed it, too: neither is a member, as nothing shows which of them is the stolen one.
    case removedMutually

    /// Why the device can hand nothing over for good, in a sentence for people; nil where it can, or may soon.
    package var problem: String? {
        switch self {
        case .member, .joining: nil
        case .fileUsedTwice:
            """
            another device joined with the same account file, so neither is a member: leave the account, and join with \
            a new file
            """
        case .fileClosed:
            """
            the account file that this device joined with was closed, so it is no member: leave the account, and join \
            with a new file
            """
        case .removed: "this device was removed from its account"
        case .removedMutually:
            "this device and another one have removed each other from the account, so neither is a member"
        }
    }
}
