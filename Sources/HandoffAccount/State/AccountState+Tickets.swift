package import HandoffCrypto
package import HandoffModel

/// The life cycle of an exported file.
///
/// 1. A member exports: it signs and stores a ticket, then writes the file. The file holds the
///    ticket's seed and the roster but no account key, so it is worthless once the ticket is
///    closed.
/// 2. A new device imports: it signs its use of the ticket and waits to be admitted by a member. It
///    has no account key, so it announces nothing.
/// 3. It meets a member from the file's roster. The two find each other by the secret shared by the
///    ticket's key and the member's (``PairwiseKeys``), in any epoch. Its first
///    frame is the statements.
/// 4. The member accepts the use and closes the ticket in the same write with
///    `remove(ticket, keeps: [new device])` (``introducing(_:with:by:)``).
/// 5. On the same connection the member sends its statements, then the account key. The device has
///    now joined and deletes the ticket's seed. If the connection fails first, the new device is
///    like any member that was offline.
extension AccountState {
    /// Signs a one-time ticket and creates the file that contains it. Store the state before
    /// writing the file.
    package func exportingTicket(by signer: SigningKey, now: UInt64) throws -> (state: AccountState, file: AccountFile)
    {
        try requireLive(signer)
        let seed = try SecretBytes(random: SigningKey.seedCount)
        let key = try SigningKey(seed: seed).publicKey
        var next = try adding([Statement.sign(.ticket(key), accountID: accountID, with: signer)])
        next.exports.append(TicketExport(ticket: Fingerprint(ticket: key), time: now))
        return (next, AccountFile(ticketSeed: seed, roster: next.roster))
    }

    /// Starts to join the account of an exported file, on a device that is in no account. The
    /// device has joined when a member has sent it the account key.
    ///
    /// - Parameters:
    ///   - device: the key of this device. The file provides an account, not an identity.
    ///   - name: the name of this device, 1 to 64 bytes.
    /// - Throws: ``AccountError/ticketUsed`` when the file's own statements show that its ticket
    ///   admits no device.
    package static func importing(_ file: AccountFile, device: SigningKey, name: String) throws -> AccountState {
        let own = DeviceID(device.publicKey)
        let view = file.roster.view
        guard !view.isRemoved(own) else { throw AccountError.removedPermanently(own) }
        var next = AccountState(roster: file.roster)
        if !view.isLive(own) {
            let ticket = try SigningKey(seed: file.ticketSeed)
            guard view.openTickets.contains(where: { $0.key == ticket.publicKey && $0.users.isEmpty }) else {
                throw AccountError.ticketUsed
            }
            let use = StatementContent.use(device.publicKey)
            next = try next.adding([Statement.sign(use, accountID: file.roster.accountID, with: ticket)])
            next.ticketSeed = file.ticketSeed
        }
        return try next.naming(own, name, by: device)
    }

    /// Admits a device that presents the use of a ticket, and closes the ticket in the same write,
    /// so that no other member has to.
    ///
    /// - Returns: nil if the statements do not make the device a member; then store nothing.
    package func introducing(
        _ presenter: PublicKey, with statements: [Statement], by signer: SigningKey
    ) throws -> AccountState? {
        guard var next = try admits(presenter, with: statements)?.state else { return nil }
        for ticket in next.view.openTickets
        where ticket.users == [DeviceID(presenter)] && next.hasRoomToClose(signer.publicKey) {
            next = try next.closingTicket(ticket.id, by: signer)
        }
        return next
    }

    /// Tickets that `device`, which is this device, should close: immediately those that it
    /// exported a day ago, and those that another device has used, after the turns of the members
    /// with a smaller id. Usually the admitting member has already closed the ticket.
    package func ticketsDue(for device: DeviceID, now: UInt64) -> [TicketDue] {
        guard let rank = view.rank(of: device), let key = view.publicKey(of: device), hasRoomToClose(key) else {
            return []
        }
        let old = Set(exports.filter { $0.hasExpired(at: now) }.map(\.ticket))
        let turn = Self.timeoutForIntroducer + min(Duration.milliseconds(500) * rank, .seconds(10))
        return view.openTickets.compactMap { ticket in
            if ticket.users.contains(where: { $0 != device }) { return TicketDue(ticket: ticket.id, after: turn) }
            return old.contains(ticket.id) ? TicketDue(ticket: ticket.id, after: .zero) : nil
        }
    }

    /// Returns whether a device may still close tickets automatically. Some of the removals that it
    /// may sign are reserved for devices, however many tickets a hostile member signs and uses.
    private func hasRoomToClose(_ key: PublicKey) -> Bool {
        roster.removalCount(by: Fingerprint(DeviceID(key))) < RosterLimits.removals - Self.removalsReservedForDevices
    }

    private static let removalsReservedForDevices = 16

    /// The time that the admitting member has to close a ticket before the others do.
    static let timeoutForIntroducer = Duration.seconds(2)

    /// Permanently closes a ticket. A single user is kept; of several, none.
    package func closingTicket(_ ticket: Fingerprint, by signer: SigningKey) throws -> AccountState {
        let users = try open(ticket).users
        return try closing(ticket, keeping: users.count == 1 ? users.map { Fingerprint($0) } : [], by: signer)
    }

    /// Permanently closes a stolen ticket. No device that used it is kept, even if another member
    /// concurrently keeps one. Devices that lose membership by this may have the account key, so a
    /// new key is generated in the same write.
    ///
    /// - Throws: ``AccountError/noSuchTicket``, or ``AccountError/admittedByTicket`` for the ticket
    ///   of this device itself.
    package func revokingTicket(_ ticket: Fingerprint, by signer: SigningKey, now: UInt64) throws -> AccountState {
        guard try !open(ticket).users.contains(DeviceID(signer.publicKey)) else { throw AccountError.admittedByTicket }
        let next = try closing(ticket, keeping: [], by: signer)
        guard view.live.isSubset(of: next.view.live) else { return try next.makingEpoch(by: signer, now: now) }
        return next
    }

    private func open(_ ticket: Fingerprint) throws(AccountError) -> OpenTicket {
        guard let open = view.openTickets.first(where: { $0.id == ticket }) else { throw .noSuchTicket }
        return open
    }

    private func closing(
        _ ticket: Fingerprint, keeping keeps: [Fingerprint], by signer: SigningKey
    ) throws -> AccountState {
        try requireLive(signer)
        let content = StatementContent.remove(subject: ticket, keeps: keeps)
        return try adding([Statement.sign(content, accountID: accountID, with: signer)])
    }
}

/// A ticket that this device should close, unless another member does so first.
package struct TicketDue: Sendable, Equatable {
    /// The ticket.
    package let ticket: Fingerprint
    /// The delay after this device first learned of the ticket.
    package let after: Duration
}

/// An export of the account by this device. The device closes the ticket after a day without use.
package struct TicketExport: Hashable, Sendable {
    /// The time for which a file is valid, in seconds.
    static let lifetime: UInt64 = 24 * 60 * 60

    /// The ticket in the file.
    package let ticket: Fingerprint
    /// Seconds since 1970 on this device's clock.
    package let time: UInt64

    /// Seconds since the export, or 0 if the clock was set back.
    package func age(at now: UInt64) -> UInt64 {
        now > time ? now - time : 0
    }

    /// Returns whether the lifetime has passed. A clock that was set back by more than the lifetime
    /// counts as expiry too: closing early only requires another export.
    func hasExpired(at now: UInt64) -> Bool {
        (now > time ? now - time : time - now) >= Self.lifetime
    }
}
