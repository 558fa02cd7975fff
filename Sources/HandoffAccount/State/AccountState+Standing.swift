package import HandoffModel

/// What this device is in its account, as far as it knows.
package enum Standing: Sendable, Equatable {
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
}

extension AccountState {
    /// What `device`, this one, is in the account.
    package func standing(of device: DeviceID) -> Standing {
        let own = view.openTickets.first { $0.users.contains(device) }
        if view.isLive(device) { return held == nil ? .joining : .member }
        if view.isRemoved(device) { return .removed }
        if own != nil { return .fileUsedTwice }
        let cameByFile = roster.ordered.contains { statement in
            if case .use(let key) = statement.content { DeviceID(key) == device } else { false }
        }
        return cameByFile ? .fileClosed : .removed
    }
}
