import HandoffAccount
import HandoffControl
import HandoffCrypto
import HandoffJSON
import HandoffLog
import HandoffModel
import HandoffProtocol

/// What the account service shows, and what it can do.
extension DaemonCore {
    /// What the account service needs.
    var accountSurroundings: AccountService.Surroundings {
        AccountService.Surroundings(
            account: { [unowned self] in account() },
            createAccount: { [unowned self] completion in
                keeper.create(name: name) { completion($0.mapError { CallError($0) }) }
            },
            exportAccount: { [unowned self] in export(over: $0) },
            importAccount: { [unowned self] in receiveAccount(over: $0) },
            mayExport: { [unowned self] in
                guard let state = keeper.state else { throw CallError(AccountKeeper.Refusal.noAccount) }
                guard state.isCurrent else { throw CallError(AccountError.noCurrentKey) }
            },
            devices: { [unowned self] in devices() })
    }

    // MARK: - Showing

    private func account() -> ControlAccount {
        let state = keeper.state
        return ControlAccount(
            account: state?.accountID, epoch: state?.epoch, devices: state?.view.live.count ?? 0, tickets: tickets())
    }

    private func devices() -> [ControlDevice] {
        guard let view = keeper.state?.view else {
            return [ControlDevice(id: keeper.deviceID, name: name, kind: kind, isSelf: true, online: true)]
        }
        return view.live.sorted().map { id in
            let isSelf = id == keeper.deviceID
            let peer = network.table[id]
            return ControlDevice(
                id: id, name: ring.name(of: id), kind: isSelf ? kind : peer?.kind ?? .other, isSelf: isSelf,
                online: isSelf || peer != nil)
        }
    }

    // MARK: - Account files

    private func export(over stream: UpgradedStream) {
        keeper.export { [log] result in
            switch result {
            case .success(let file):
                stream.write(file.exposedCopy())
                stream.end()
                log.notice("The account was exported; the file admits one device")
            case .failure(let error):
                // The client sees the end without a file, and says so; the reason is in the log.
                log.error("Cannot export the account", ["error": "\(error)"])
                stream.end()
            }
        }
    }

    private func receiveAccount(over stream: UpgradedStream) {
        var received: [UInt8] = []
        stream.onBytes = { bytes in
            received += bytes
            guard received.count <= Self.longestAccountFile else {
                SecretBytes.wipe(&received)
                stream.close()
                return
            }
        }
        stream.onLost = { _ in SecretBytes.wipe(&received) }
        stream.onEnd = { [self] in
            // A passphrase is not taken yet: its length has to be 0.
            var content = Array(received.dropFirst(4))
            SecretBytes.wipe(&received)
            let file = SecretBytes(wiping: &content)
            keeper.importFile(file, name: name) { [log] result in
                var answer: JSONObject
                switch result {
                case .success(let account):
                    answer = ["account": .string(account.hex)]
                    log.notice("Joined an account", ["account": account.short])
                case .failure(let error):
                    let error = CallError(error)
                    answer = error.parameters
                    answer["error"] = .string(error.name)
                }
                stream.write(answer.encoded() + [0])
                stream.end()
            }
        }
    }

    /// An account file is a roster of at most 8 MiB and a few keys.
    private static let longestAccountFile = 8 * 1024 * 1024 + 64 * 1024
}
