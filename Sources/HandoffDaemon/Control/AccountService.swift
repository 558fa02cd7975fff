import HandoffAccount
import HandoffControl
import HandoffCrypto
import HandoffJSON
import HandoffModel

/// The part of the control interface that concerns the account and its devices. Lives on the daemon's loop.
final class AccountService {
    /// What the service needs of the rest of the daemon.
    struct Surroundings {
        let account: () -> ControlAccount
        let createAccount: (@escaping (Result<AccountID, any Error>) -> Void) -> Void
        let files: AccountFileDesk
        let tickets: () -> [ControlTicket]
        let revoke: (Fingerprint, @escaping (Result<Void, any Error>) -> Void) -> Void
        let rotateKey: (@escaping (Result<UInt64, any Error>) -> Void) -> Void
        let mayExport: () throws -> Void
        let devices: () -> [ControlDevice]
    }

    private let surroundings: Surroundings

    init(surroundings: Surroundings) {
        self.surroundings = surroundings
    }

    func create(_ call: ControlCall) {
        surroundings.createAccount { result in
            switch result {
            case .success(let id): call.reply(["account": .string(id.hex)])
            case .failure(let error): call.fail(error)
            }
        }
    }

    func get(_ call: ControlCall) {
        call.reply(surroundings.account().json)
    }

    func listDevices(_ call: ControlCall) {
        call.reply(["devices": .array(surroundings.devices().map { .object($0.json) })])
    }

    func export(_ call: ControlCall) throws {
        guard call.wantsUpgrade else { throw CallError.control(.expectedUpgrade) }
        try surroundings.mayExport()
        try surroundings.files.requireRoom()
        guard let stream = call.upgrade([:]) else { return }
        surroundings.files.export(over: stream)
    }

    func `import`(_ call: ControlCall) throws {
        guard call.wantsUpgrade else { throw CallError.control(.expectedUpgrade) }
        try surroundings.files.requireRoom()
        guard let stream = call.upgrade([:]) else { return }
        surroundings.files.receive(over: stream)
    }

    func revokeExport(_ call: ControlCall) throws {
        let prefix = try Fields(call.parameters).text("ticket")
        let fitting = surroundings.tickets().map(\.id).filter { OfferSelection.begins($0, with: prefix) }
        guard let ticket = fitting.first.flatMap({ Fingerprint(hex: $0) }) else { throw CallError.noSuchTicket(prefix) }
        guard fitting.count == 1 else { throw CallError.ambiguous(prefix, fitting, of: "tickets") }
        surroundings.revoke(ticket) { result in
            switch result {
            case .success: call.reply([:])
            // Another member was faster.
            case .failure(AccountError.noSuchTicket): call.fail(CallError.noSuchTicket(prefix))
            case .failure(let error): call.fail(error)
            }
        }
    }

    func rotateKey(_ call: ControlCall) {
        surroundings.rotateKey { result in
            switch result {
            case .success(let epoch): call.reply(["epoch": .integer(Int64(clamping: epoch))])
            case .failure(let error): call.fail(error)
            }
        }
    }

    func removeDevice(_ call: ControlCall) throws {
        call.fail(VarlinkService.methodNotImplemented, ["method": .string(call.method)])
    }

    func renameDevice(_ call: ControlCall) throws {
        call.fail(VarlinkService.methodNotImplemented, ["method": .string(call.method)])
    }

    func leave(_ call: ControlCall) throws {
        call.fail(VarlinkService.methodNotImplemented, ["method": .string(call.method)])
    }
}
