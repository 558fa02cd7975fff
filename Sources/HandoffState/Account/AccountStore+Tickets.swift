package import HandoffAccount
import HandoffCrypto
import HandoffLog
package import HandoffModel
import LoopIO
import Timing

/// Exported account files and their tickets, and the account key.
extension AccountStore {
    /// A file that was exported; the ticket in it is stored.
    package struct Export {
        /// The ticket that the file uses.
        package let ticket: Fingerprint
        /// What is sealed and given out.
        package let file: AccountFile
    }

    /// Makes the file that admits one new device; its ticket is stored before.
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

    /// Begins to join the account of a file that another device exported; a member still has to let this device in. A file by which
    /// this device has joined, or is joining, changes nothing.
    package func importFile(
        _ file: AccountFile, name: String, completion: @escaping (Result<AccountID, any Error>) -> Void
    ) {
        change { [self] state in
            if let state, state.accountID == file.roster.accountID, state.view.isLive(deviceID),
                state.held != nil || state.ticketSeed == file.ticketSeed
            {
                return nil
            }
            try refuseAnother(state)
            return try AccountState.importing(file, device: device, name: name)
        } completion: { result in
            completion(
                result.flatMap { state in
                    state.map { .success($0.accountID) } ?? .failure(Refusal.noAccount)
                })
        }
    }

    /// Closes an open ticket, whoever made it, so that its file admits nobody; also nobody who is using it just now.
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

    /// Makes a new account key though none is due; the members are given it as ever. `completion` gets the epoch.
    package func rotate(completion: @escaping (Result<UInt64, any Error>) -> Void) {
        change { [self] state in
            let state = try member(state)
            // Who waits for a key would make one that nobody asked for, beside the one that holds.
            guard state.isCurrent else { throw AccountError.noCurrentKey }
            return try state.makingEpoch(by: device, now: wallClock.unixSeconds)
        } completion: { [log] result in
            completion(
                result.flatMap { state in
                    guard let epoch = state?.epoch else { return .failure(Refusal.noAccount) }
                    log.notice("A new account key holds", ["reason": "asked for", "epoch": "\(epoch)"])
                    return .success(UInt64(epoch))
                })
        }
    }

    /// Closes a ticket that was used, or is a day old.
    func closeDue(_ ticket: Fingerprint, ended: @escaping () -> Void) {
        let users = state?.view.openTickets.first { $0.id == ticket }?.users ?? []
        change { [device] state in
            try state?.closingTicket(ticket, by: device)
        } completion: { [self] result in
            ended()
            switch result {
            case .success: tellClosed(ticket, usedBy: users)
            case .failure(let error):
                log.error("Cannot close a ticket", ["error": "\(error)"])
                retry()
            }
        }
    }

    private func tellClosed(_ ticket: Fingerprint, usedBy users: [DeviceID]) {
        switch users.count {
        case 0: log.notice("An exported account file is a day old, and is closed now", ["ticket": ticket.short])
        case 1:
            log.notice(
                "An exported account file was used, and is closed now",
                ["ticket": ticket.short, "by": users.map(\.short).joined()])
        default:
            log.error(
                "An exported account file was used by several devices, and admits none of them",
                ["ticket": ticket.short, "by": users.map(\.short).joined(separator: " ")])
        }
    }
}
