import HandoffAccount
import HandoffCrypto
import HandoffJSON
import HandoffModel
import HandoffState
import LoopIO

/// One export of the account. On the daemon's loop. The stream keeps it alive until the end.
///
/// The ticket is stored before the file is written. If the client disconnects before the kernel has
/// accepted the whole file, it has no usable file, and the ticket is closed immediately. States:
/// `docs/state-machines/account.md`.
final class AccountExport: UpgradedStreamDelegate {
    private enum State {
        /// The passphrase is being received.
        case asking
        /// The ticket is being stored and the file generated.
        case making
        /// The file is being sent.
        case sending(Fingerprint)
        /// The export has ended.
        case ended
    }

    /// The size of the first write. It contains the ticket's seed, and the kernel accepts this much
    /// immediately, so the seed waits in no queue.
    private static let firstPiece = 4096

    private let stream: UpgradedStream
    private let desk: AccountFileService
    private let intake = AccountFileIntake(maxPassphrase: PassphraseSeal.maxPassphrase, maxFile: 0)
    private var state = State.asking
    private var timer: LoopTimer?

    init(_ stream: UpgradedStream, desk: AccountFileService) {
        self.stream = stream
        self.desk = desk
    }

    /// Waits for the passphrase. The client sends first, because a library that buffers the reply
    /// to its call could otherwise lose the beginning of the file.
    func begin() {
        timer = desk.timer { [self] in giveUp("the client took too long") }
        stream.start(self)
    }

    func receivedEnd() {
        if case .asking = state { giveUp("the client sent no passphrase, not even an empty one") }
    }

    func lost(_ error: Errno) {
        giveUp("the client disconnected: \(error)")
    }

    func flushed() {
        checkSent()
    }

    func received(_ bytes: Span<UInt8>) {
        do throws(AccountFileIntake.Fault) {
            try intake.take(bytes)
        } catch {
            return giveUp("the client sent more than a passphrase of 1,024 bytes")
        }
        guard case .asking = state, intake.hasPassphrase else { return }
        state = .making
        // No further input is expected, and reading it would have no limit.
        stream.stopReading()
        let passphrase = intake.takePassphrase()
        desk.accountStore.export { [self] result in
            switch result {
            case .success(let export): seal(export, passphrase)
            case .failure(let error): refuse(error)
            }
        }
    }

    /// Sends an error instead of the file, as one JSON object and a NUL.
    private func refuse(_ error: any Error) {
        if case .ended = state { return }
        let reply = CallError(error)
        var answer = reply.parameters
        answer["error"] = .string(reply.name)
        stream.write(answer.encoded() + [0])
        stream.end()
        giveUp("\(error)", closing: false)
    }

    private func seal(_ export: AccountStore.Export, _ passphrase: SecretBytes?) {
        guard case .making = state else { return withdraw(export.ticket) }
        desk.worker.run({ try export.file.encoded(passphrase: passphrase) }, on: desk.loop) { [self] result in
            guard case .making = state else { return withdraw(export.ticket) }
            state = .sending(export.ticket)
            switch result {
            case .success(let file): send(file)
            case .failure(let error): refuse(error)
            }
        }
    }

    private func send(_ file: SecretBytes) {
        timer = desk.timer { [self] in giveUp("the client took too long") }
        file.withSpan { bytes in
            let first = min(bytes.count, Self.firstPiece)
            for range in [0..<first, first..<bytes.count] where !range.isEmpty {
                var piece: [UInt8] = []
                piece.reserveCapacity(range.count)
                for index in range { piece.append(bytes[index]) }
                stream.write(piece)
                SecretBytes.wipe(&piece)
            }
        }
        // A write error is reported asynchronously, before this call runs.
        desk.loop.later { [self] in checkSent() }
    }

    private func checkSent() {
        guard case .sending(let ticket) = state, stream.isOpen, stream.pendingBytes == 0 else { return }
        desk.log.notice("The account was exported; the file admits one device", ["ticket": ticket.short])
        end()
        stream.end()
    }

    /// Ends the export without a file.
    private func giveUp(_ reason: String, closing: Bool = true) {
        if case .ended = state { return }
        desk.log.error("Cannot export the account", ["error": reason])
        if case .sending(let ticket) = state { withdraw(ticket) }
        end()
        if closing { stream.close() }
    }

    /// Closes the ticket of a file that was not received.
    private func withdraw(_ ticket: Fingerprint) {
        desk.accountStore.revoke(ticket) { [log = desk.log] result in
            // On an error, the ticket stays listed as open, and is closed after a day.
            if case .failure(let error) = result {
                log.error("Cannot close the ticket of a file that was not received", ["error": "\(error)"])
            }
        }
    }

    private func end() {
        state = .ended
        timer = nil
        intake.clear()
        desk.streamEnded()
    }
}
