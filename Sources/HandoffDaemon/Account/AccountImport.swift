import HandoffAccount
import HandoffControl
import HandoffCrypto
import HandoffJSON
import HandoffModel
import HandoffPeers
import HandoffState
import LoopIO

/// One import of an account file. On the daemon's loop. The stream keeps it alive until the end.
///
/// If the client disconnects early, the received bytes are overwritten. States:
/// `docs/state-machines/account.md`.
final class AccountImport: UpgradedStreamDelegate {
    private let stream: UpgradedStream
    private let desk: AccountFileService
    private let intake = AccountFileIntake(
        maxPassphrase: PassphraseSeal.maxPassphrase, maxFile: AccountFileService.maxFile)
    /// Runs while the client sends.
    private var timer: LoopTimer?
    private var isComplete = false
    private var hasEnded = false

    init(_ stream: UpgradedStream, desk: AccountFileService) {
        self.stream = stream
        self.desk = desk
    }

    /// Waits for the passphrase and the file.
    func begin() {
        timer = desk.timer { [self] in
            stream.close()
            end()
        }
        stream.start(self)
    }

    func received(_ bytes: Span<UInt8>) {
        do throws(AccountFileIntake.Fault) {
            try intake.take(bytes)
        } catch {
            refuse(error)
        }
    }

    func lost(_ error: Errno) {
        end()
    }

    /// The reply may take time to leave. Nothing waits for it.
    func flushed() {}

    private func refuse(_ fault: AccountFileIntake.Fault) {
        switch fault {
        case .passphraseTooLong: answer(.failure(FileError.invalidPassphraseLength))
        case .tooLong:
            answer(
                .failure(
                    CallError.control(
                        .invalidAccountFile, "the account file has more than \(AccountFileService.maxFile) bytes")))
        }
    }

    func receivedEnd() {
        guard !hasEnded, !isComplete else { return }
        isComplete = true
        timer = nil
        guard intake.hasPassphrase else {
            return answer(.failure(CallError.control(.invalidAccountFile, "no account file was received")))
        }
        let passphrase = intake.takePassphrase()
        let file = intake.takeFile()
        let read: @Sendable () throws -> AccountFile = { try AccountFile(decoding: file, passphrase: passphrase) }
        desk.worker.run(read, on: desk.loop) { [self] result in
            switch result {
            case .failure(let error): answer(.failure(error))
            case .success(let file): join(file)
            }
        }
    }

    private func join(_ file: AccountFile) {
        desk.accountStore.importFile(file, name: desk.name) { [self] result in
            switch result {
            case .success(let account):
                desk.log.notice("An account file was imported", ["account": account.short])
                awaitMember(account)
            // Every account error is caused by the file.
            case .failure(let error as AccountError):
                answer(.failure(CallError.control(.invalidAccountFile, "\(error)")))
            case .failure(let error): answer(.failure(error))
            }
        }
    }

    /// Only a member can confirm that the file is valid. The client is notified of that, or of the
    /// missing condition.
    private func awaitMember(_ account: AccountID) {
        desk.awaitJoined(account) { [self] isJoined in
            var reply: JSONObject = ["account": .string(account.hex), "joined": .bool(isJoined)]
            if !isJoined { reply["missing"] = .string(desk.peers?.joinObstacle ?? "the daemon is stopping") }
            answer(.success(reply))
        }
    }

    private func answer(_ result: Result<JSONObject, any Error>) {
        guard !hasEnded else { return }
        var answer: JSONObject
        switch result {
        case .success(let object): answer = object
        case .failure(let error):
            let error = CallError(error)
            answer = error.parameters
            answer["error"] = .string(error.name)
        }
        end()
        stream.write(answer.encoded() + [0])
        stream.end()
    }

    private func end() {
        guard !hasEnded else { return }
        hasEnded = true
        timer = nil
        intake.clear()
        desk.streamEnded()
    }
}
