package import HandoffCrypto
package import HandoffModel

/// What this device knows of its account: the roster, and the account key that it holds. Nothing is kept of former epochs.
///
/// A plain value. Operations return a new one, and do nothing else: the caller stores it durably, then puts it in the
/// place of the old one, then acts on it (closes connections, sends statements, hands over keys). Operations that fail
/// leave nothing behind. Diagram: `docs/state-machines/account.md`.
package struct AccountState: Sendable {
    /// The statements, and the view that follows from them.
    package internal(set) var roster: Roster
    /// The account key that this device has, if it was ever given one.
    package internal(set) var held: HeldEpoch?
    /// Tickets that this device exported and that are still open.
    package internal(set) var exports: [TicketExport] = []
    /// Devices that this one admitted by pairing, and that have not said yet that they have stored the account. Members
    /// all of them; whoever else is a member hears of them, but only here it is known that they may not know it.
    package internal(set) var unfinished: Set<DeviceID> = []
    /// The name that this device was configured with when it last took a configured one; nil for none.
    package var configuredName: String?
    /// Seed of the ticket by which this device is joining; nil once a member has given it the account key. While it is set, the
    /// members that this device knows can be found by what they share with the ticket.
    package internal(set) var ticketSeed: SecretBytes?
    /// An epoch record that must not stay in force, since a device that may hold its key is no member any more though
    /// nothing that the record names has changed. See ``epochDue(for:now:keyAwaited:)``.
    package internal(set) var exposedRecord: Fingerprint?

    /// The state of a roster without any key.
    init(roster: Roster) {
        self.roster = roster
    }

    /// The account.
    package var accountID: AccountID {
        roster.accountID
    }

    /// Who is a member, and which epoch is in force.
    package var view: RosterView {
        roster.view
    }

    /// Number of the epoch whose key this device has.
    package var epoch: UInt32? {
        held?.n
    }

    /// The account key that this device has.
    package var accountKey: SecretBytes? {
        held?.accountKey
    }

    /// Whether this device has the key of the epoch in force; without it, it offers and serves nothing but statements and
    /// keys, and keeps its label.
    package var isCurrent: Bool {
        guard let held, let current = view.currentEpoch else { return false }
        return held.record == current.id
    }

    /// Adds own statements; all of them have to fit.
    func adding(_ statements: [Statement]) throws -> AccountState {
        var next = self
        let result = try next.roster.merge(statements)
        if let refusal = result.refused.first {
            switch refusal.reason {
            case .unknownKey: throw AccountError.full(reason: "signer \(refusal.statement.signerID.short) is unknown")
            case .full(let limit): throw AccountError.full(reason: "limit of \(limit.rawValue)")
            }
        }
        next.forgetWhatIsOver()
        return next
    }

    /// Drops what the roster says is over: exports whose tickets are closed, unfinished devices that are no members.
    mutating func forgetWhatIsOver() {
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
    ///   - name: what people call it, 1 to 64 bytes.
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
    /// The account that a member gave to this device when they were paired.
    ///
    /// The caller stores it before it tells the member that it has arrived.
    ///
    /// - Throws: ``AccountError/notLive(_:)`` when the roster does not admit `device`, ``AccountError/noCurrentKey`` or
    ///   ``AccountError/wrongKey`` when the key is not the one of the epoch in force.
    package static func joining(
        _ roster: Roster, device: DeviceID, accountKey: SecretBytes, now: UInt64
    ) throws -> AccountState {
        guard roster.view.isLive(device) else { throw AccountError.notLive(device) }
        return try AccountState(roster: roster).accepting(accountKey, now: now)
    }
}

extension AccountState {
    /// What `device`, this one, is in the account.
    package func standing(of device: DeviceID) -> Standing {
        let own = view.openTickets.first { $0.users.contains(device) }
        if view.isLive(device) { return held == nil ? .joining : .member }
        if view.isRemoved(device) {
            return roster.isRemovedMutually(Fingerprint(device)) ? .removedMutually : .removed
        }
        if own != nil { return .fileUsedTwice }
        let cameByFile = roster.ordered.contains { statement in
            if case .use(let key) = statement.content { DeviceID(key) == device } else { false }
        }
        return cameByFile ? .fileClosed : .removed
    }
}
