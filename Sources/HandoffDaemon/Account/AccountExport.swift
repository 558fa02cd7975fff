import HandoffAccount
import HandoffControlServer
import HandoffCrypto
import HandoffJSON
import HandoffLog
import HandoffModel
import HandoffState
import LoopIO

/// One export of the account. On the daemon's loop; the stream keeps it until the end.
///
/// The ticket is stored before the file is written. A client that goes before the kernel has taken the whole file has
/// none that it could use: then the ticket is closed at once. States: `docs/state-machines/account.md`.
final class AccountExport: UpgradedStreamDelegate {
    private enum State {
        /// The state while the passphrase arrives.
        case asking
        /// The state while the ticket is stored and the file is made.
        case making
        /// The state while the file is being sent.
        case sending(Fingerprint)
        /// The state at the end.
        case ended
    }

    /// The ticket's seed is in the first bytes of a file, and the kernel takes this much at once: so it waits in no queue.
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

    /// Waits for the passphrase. The client speaks first: a library that buffers the reply to its call would otherwise
    /// swallow the file's beginning.
    func begin() {
        timer = desk.timer { [self] in giveUp("the client took too long") }
        stream.start(self)
    }

    func receivedEnd() {
        if case .asking = state { giveUp("the client sent no passphrase, not even an empty one") }
    }

    func lost(_ error: Errno) {
        giveUp("the client has gone: \(error)")
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
        // Reading on would be without end: nothing else is to come.
        stream.stopReading()
        let passphrase = intake.takePassphrase()
        desk.accountStore.export { [self] result in
            switch result {
            case .success(let export): seal(export, passphrase)
            case .failure(let error): refuse(error)
            }
        }
    }

    /// Answers with an error in the place of the file, as one JSON object and a NUL.
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
        // A failed write is reported in a later turn, before this.
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

    /// Closes the ticket of a file that nobody has got.
    private func withdraw(_ ticket: Fingerprint) {
        desk.accountStore.revoke(ticket) { [log = desk.log] result in
            // It stays listed as open, and is closed after a day.
            if case .failure(let error) = result {
                log.error("Cannot close the ticket of a file that was not taken", ["error": "\(error)"])
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
