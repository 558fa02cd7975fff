package import HandoffCrypto
package import HandoffModel

/// The life of an exported file.
///
/// 1. A member exports: a ticket is signed and stored, then the file is written. It holds the account key K of epoch n.
/// 2. A new device imports: it signs its use of the ticket, is live at once, also without a network, and holds K.
/// 3. It meets a member. Since that member has not heard of it, its first frame is the statements, through the gate of
///    epoch n, which is still in force; the member's roster then shows it as live (``admits(_:with:)``).
/// 4. The member sees a ticket with a use (``ticketsDue(for:now:)``), and closes it: `remove(ticket, keeps: [new device])`
///    and epoch n + 1, in one write. The file and the K in it are worth nothing from then on.
/// 5. On the same connection it sends its statements, then the key of epoch n + 1: the new device is live in the
///    member's stored roster, so ``keyToHandOver(to:)`` gives it. Until that key arrives, the new device sees that its
///    epoch is not current, and offers and serves nothing. If the connection breaks before, the new device is like any
///    member that was away: it is known by its label of epoch n, and dialled with that epoch's gate key.
///
/// The new device never closes the ticket itself: with an epoch of its own making it could not pass the gate of those
/// who know only epoch n.
extension AccountState {
    /// Signs a one-time ticket, and makes the file that holds it; the state is to be stored before the file is written.
    ///
    /// - Throws: ``AccountError/noCurrentKey`` while this device waits for the key of a new epoch.
    package func exportingTicket(by signer: SigningKey, now: UInt64) throws -> (state: AccountState, file: AccountFile)
    {
        try requireLive(signer)
        guard isCurrent, let held else { throw AccountError.noCurrentKey }
        let seed = try SecretBytes(random: SigningKey.seedCount)
        let key = try SigningKey(seed: seed).publicKey
        var next = try adding([Statement.sign(.ticket(key), accountID: accountID, with: signer)])
        next.exports.append(TicketExport(ticket: Fingerprint(ticket: key), time: now, record: held.record))
        let file = AccountFile(ticketSeed: seed, n: held.n, accountKey: held.accountKey, roster: next.roster)
        return (next, file)
    }

    /// Joins the account of an exported file, on a device that is in no account.
    ///
    /// - Parameters:
    ///   - device: the key of this device; the file brings an account, not an identity.
    ///   - name: what people call this device, 1 to 64 bytes.
    /// - Throws: ``AccountError/ticketUsed`` when the file itself shows that its ticket admits nobody any more.
    package static func importing(
        _ file: AccountFile, device: SigningKey, name: String, now: UInt64
    ) throws -> AccountState {
        let own = DeviceID(device.publicKey)
        let view = file.roster.view
        guard !view.isRemoved(own) else { throw AccountError.removedForEver(own) }
        guard let current = view.currentEpoch, current.n == file.n else { throw AccountError.wrongKey }
        var next = AccountState(roster: file.roster)
        if !view.isLive(own) {
            let ticket = try SigningKey(seed: file.ticketSeed)
            let isOpen = view.openTickets.contains { $0.key == ticket.publicKey && $0.users.isEmpty }
            guard isOpen else { throw AccountError.ticketUsed }
            let use = StatementContent.use(device.publicKey)
            next = try next.adding([Statement.sign(use, accountID: file.roster.accountID, with: ticket)])
        }
        return try next.naming(own, name, by: device).accepting(file.accountKey, now: now)
    }

    /// Tickets that `device`, this one, should close now: those that another device has used, which is for the first
    /// member that learns of it, and those that this device exported a day ago.
    package func ticketsDue(for device: DeviceID, now: UInt64) -> [Fingerprint] {
        guard view.isLive(device) else { return [] }
        let old = Set(exports.filter { $0.isOver(at: now) }.map(\.ticket))
        return view.openTickets.filter { ticket in
            ticket.users.contains { $0 != device } || old.contains(ticket.id)
        }.map(\.id)
    }

    /// Whether the file of an export can be of no use any more though its ticket is open: the key in it is not the one in
    /// force, so that those who know the present one do not open to it.
    ///
    /// The ticket is not closed for that. A member that has not heard of the present epoch may admit a device with the
    /// file, and that device stays, unless somebody has closed the ticket and kept nobody.
    package func isOutdated(_ export: TicketExport) -> Bool {
        view.currentEpoch?.id != export.record
    }

    /// Closes a ticket for ever, with a new epoch in the same write: of its users one is kept, of several none.
    package func closingTicket(_ ticket: Fingerprint, by signer: SigningKey, now: UInt64) throws -> AccountState {
        let users = try open(ticket).users
        return try closing(ticket, keeping: users.count == 1 ? users.map { Fingerprint($0) } : [], by: signer, now: now)
    }

    /// Closes a ticket for ever that fell into wrong hands, with a new epoch in the same write: nobody who used it is kept,
    /// also when another member keeps somebody at the same time.
    ///
    /// - Throws: ``AccountError/noSuchTicket``, or ``AccountError/admittedByTicket`` for the ticket of this device itself.
    package func revokingTicket(_ ticket: Fingerprint, by signer: SigningKey, now: UInt64) throws -> AccountState {
        guard try !open(ticket).users.contains(DeviceID(signer.publicKey)) else { throw AccountError.admittedByTicket }
        return try closing(ticket, keeping: [], by: signer, now: now)
    }

    private func open(_ ticket: Fingerprint) throws(AccountError) -> OpenTicket {
        guard let open = view.openTickets.first(where: { $0.id == ticket }) else { throw .noSuchTicket }
        return open
    }

    private func closing(
        _ ticket: Fingerprint, keeping keeps: [Fingerprint], by signer: SigningKey, now: UInt64
    ) throws -> AccountState {
        try requireLive(signer)
        let content = StatementContent.remove(subject: ticket, keeps: keeps)
        return try adding([Statement.sign(content, accountID: accountID, with: signer)])
            .makingEpoch(by: signer, now: now)
    }
}
