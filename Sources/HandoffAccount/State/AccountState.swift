package import HandoffCrypto
package import HandoffModel

/// This device's state of its account: the roster and the account key. No earlier epoch is kept.
///
/// A plain value. Operations return a new value and have no other effect. The caller stores it
/// durably, replaces the old value, and then acts on it (closes connections, sends statements,
/// sends keys). Failed operations change nothing. Diagram: `docs/state-machines/account.md`.
package struct AccountState: Sendable {
    /// The statements, and the view derived from them.
    package internal(set) var roster: Roster
    /// The account key that this device has, if it ever received one.
    package internal(set) var held: HeldEpoch?
    /// Open tickets that this device exported.
    package internal(set) var exports: [TicketExport] = []
    /// Devices that this one admitted by pairing and that have not confirmed yet that they stored
    /// the account. They are members. Other members learn of them, but only this device knows that
    /// they may not have stored it.
    package internal(set) var unfinished: Set<DeviceID> = []
    /// The configured name that this device last applied, or nil for none.
    package var configuredName: String?
    /// Seed of the ticket with which this device is joining, or nil once a member has sent it the
    /// account key. While it is set, the known members can be found by the secrets that they share
    /// with the ticket.
    package internal(set) var ticketSeed: SecretBytes?
    /// An epoch record to be replaced, because a device that may have its key is no longer a
    /// member, while the record's removed digest is unchanged. See
    /// ``epochDue(for:now:keyAwaited:)``.
    var exposedRecord: Fingerprint?

    /// Creates a state with a roster and no key.
    init(roster: Roster) {
        self.roster = roster
    }

    /// The account.
    package var accountID: AccountID {
        roster.accountID
    }

    /// The members and the current epoch.
    package var view: RosterView {
        roster.view
    }

    /// The number of the epoch whose key this device has.
    package var epoch: UInt32? {
        held?.n
    }

    /// The account key that this device has.
    package var accountKey: SecretBytes? {
        held?.accountKey
    }

    /// True if this device has the key of the current epoch. Without it, the device offers and
    /// serves only statements and keys, and keeps its label.
    package var isCurrent: Bool {
        guard let held, let current = view.currentEpoch else { return false }
        return held.record == current.id
    }

    /// Adds statements of this device. All of them must fit.
    func adding(_ statements: [Statement]) throws -> AccountState {
        var next = self
        let result = try next.roster.merge(statements)
        if let refusal = result.refused.first {
            switch refusal.reason {
            case .unknownKey: throw AccountError.full(reason: "signer \(refusal.statement.signerID.short) is unknown")
            case .full(let limit): throw AccountError.full(reason: "limit of \(limit.rawValue)")
            }
        }
        next.dropObsoleteEntries()
        return next
    }

    /// Drops exports whose tickets are closed, and unfinished devices that are not members.
    mutating func dropObsoleteEntries() {
        forgetClosedExports()
        if !unfinished.isEmpty { unfinished.formIntersection(view.live) }
    }

    /// Drops exports whose tickets are closed.
    private mutating func forgetClosedExports() {
        guard !exports.isEmpty else { return }
        let open = Set(view.openTickets.map(\.id))
        exports.removeAll { !open.contains($0.ticket) }
    }

    /// Throws unless the owner of `key` is a member.
    func requireLive(_ key: SigningKey) throws(AccountError) {
        let device = DeviceID(key.publicKey)
        guard view.isLive(device) else { throw .notLive(device) }
    }
}

extension AccountState {
    /// A new account with one device: its founding statement, its name, and epoch 1.
    ///
    /// - Parameters:
    ///   - device: the key of this device.
    ///   - name: the name of the device, 1 to 64 bytes.
    ///   - now: seconds since 1970.
    package static func creating(device: SigningKey, name: String, now: UInt64) throws -> AccountState {
        let nonce = Randomness.bytes(Statement.nonceCount)
        let accountID = AccountID(founder: device.publicKey, nonce: nonce)
        let founding = try Statement.sign(.found(nonce: nonce), accountID: accountID, with: device)
        return try AccountState(roster: Roster(founding: founding))
            .naming(DeviceID(device.publicKey), name, by: device)
            .makingEpoch(by: device, now: now)
    }
}

extension AccountState {
    /// Creates the state from the account that a member sent to this device in pairing.
    ///
    /// The caller stores it before it confirms receipt to the member.
    ///
    /// - Throws: ``AccountError/notLive(_:)`` when the roster does not admit `device`,
    ///   ``AccountError/noCurrentKey`` or ``AccountError/wrongKey`` when the key is not that of the
    ///   current epoch.
    package static func joining(
        _ roster: Roster, device: DeviceID, accountKey: SecretBytes, now: UInt64
    ) throws -> AccountState {
        guard roster.view.isLive(device) else { throw AccountError.notLive(device) }
        return try AccountState(roster: roster).accepting(accountKey, now: now)
    }
}

extension AccountState {
    /// The standing of `device`, which is this device, in the account.
    package func standing(of device: DeviceID) -> Standing {
        let own = view.openTickets.first { $0.users.contains(device) }
        if view.isLive(device) { return held == nil ? .joining : .member }
        if view.isRemoved(device) {
            return roster.isRemovedMutually(Fingerprint(device)) ? .removedMutually : .removed
        }
        if own != nil { return .fileUsedTwice }
        let joinedByFile = roster.ordered.contains { statement in
            if case .use(let key) = statement.content { DeviceID(key) == device } else { false }
        }
        return joinedByFile ? .fileClosed : .removed
    }
}
