package import HandoffAccount
import HandoffCrypto
package import HandoffModel
import LoopIO

/// Exported account files and their tickets, and the account key.
extension AccountStore {
    /// An exported file whose ticket is stored.
    package struct Export {
        /// The ticket in the file.
        package let ticket: Fingerprint
        /// The content to encrypt and hand out.
        package let file: AccountFile
    }

    /// Creates the file that admits one new device. Its ticket is stored first.
    package func export(completion: @escaping (Result<Export, any Error>) -> Void) {
        var file: AccountFile?
        var ticket: Fingerprint?
        change { [self] state in
            let made = try member(state).exportingTicket(by: device, now: wallClock.unixSeconds)
            file = made.file
            ticket = made.state.exports.last?.ticket
            return made.state
        } completion: { result in
            completion(
                result.flatMap { _ in
                    guard let file, let ticket else { return .failure(Refusal.noAccount) }
                    return .success(Export(ticket: ticket, file: file))
                })
        }
    }

    /// Starts to join the account of a file that another device exported. A member must still admit
    /// this device. A file with which this device has joined, or is joining, changes nothing.
    package func importFile(
        _ file: AccountFile, name: String, completion: @escaping (Result<AccountID, any Error>) -> Void
    ) {
        change { [self] state in
            if let state, state.accountID == file.roster.accountID, state.view.isLive(deviceID),
                state.held != nil || state.ticketSeed == file.ticketSeed
            {
                return nil
            }
            try requireNoAccount(state)
            return try AccountState.importing(file, device: device, name: name)
        } completion: { result in
            completion(
                result.flatMap { state in
                    state.map { .success($0.accountID) } ?? .failure(Refusal.noAccount)
                })
        }
    }

    /// Closes an open ticket created by any device, so that its file admits no device, not even one
    /// that is using it now.
    package func revoke(_ ticket: Fingerprint, completion: @escaping (Result<Void, any Error>) -> Void) {
        change { [self] state in
            try member(state).revokingTicket(ticket, by: device, now: wallClock.unixSeconds)
        } completion: { [log] result in
            if case .success = result {
                log.notice("An exported account file was revoked", ["ticket": ticket.short])
            }
            completion(result.map { _ in })
        }
    }

    /// Generates a new account key although none is due. The members receive it as usual.
    /// `completion` receives the epoch.
    package func rotate(completion: @escaping (Result<UInt64, any Error>) -> Void) {
        change { [self] state in
            let state = try member(state)
            // A device that waits for a key would add a superfluous epoch to the current one.
            guard state.isCurrent else { throw AccountError.noCurrentKey }
            return try state.makingEpoch(by: device, now: wallClock.unixSeconds)
        } completion: { [log] result in
            completion(
                result.flatMap { state in
                    guard let epoch = state?.epoch else { return .failure(Refusal.noAccount) }
                    log.notice("A new account key is in use", ["reason": "requested", "epoch": "\(epoch)"])
                    return .success(UInt64(epoch))
                })
        }
    }

    /// Closes a ticket that was used or is a day old.
    func closeDue(_ ticket: Fingerprint, ended: @escaping () -> Void) {
        let users = state?.view.openTickets.first { $0.id == ticket }?.users ?? []
        change { [device] state in
            try state?.closingTicket(ticket, by: device)
        } completion: { [self] result in
            ended()
            switch result {
            case .success: logClosed(ticket, usedBy: users)
            case .failure(let error):
                log.error("Cannot close a ticket", ["error": "\(error)"])
                retry()
            }
        }
    }

    private func logClosed(_ ticket: Fingerprint, usedBy users: [DeviceID]) {
        switch users.count {
        case 0: log.notice("An exported account file has expired after a day and is closed", ["ticket": ticket.short])
        case 1:
            log.notice(
                "An exported account file was used and is closed",
                ["ticket": ticket.short, "by": users.map(\.short).joined()])
        default:
            log.error(
                "An exported account file was used by several devices; none of them is admitted",
                ["ticket": ticket.short, "by": users.map(\.short).joined(separator: " ")])
        }
    }
}
