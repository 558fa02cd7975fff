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
        let exportAccount: (UpgradedStream) -> Void
        let importAccount: (UpgradedStream) -> Void
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
        guard let stream = call.upgrade([:]) else { return }
        // The client speaks first: a library that buffers the reply would otherwise swallow the file's beginning.
        stream.onBytes = { [self] _ in
            stream.onBytes = nil
            surroundings.exportAccount(stream)
        }
    }

    func `import`(_ call: ControlCall) throws {
        guard call.wantsUpgrade else { throw CallError.control(.expectedUpgrade) }
        guard let stream = call.upgrade([:]) else { return }
        surroundings.importAccount(stream)
    }

    func revokeExport(_ call: ControlCall) throws {
        call.fail(VarlinkService.methodNotImplemented, ["method": .string(call.method)])
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

    func rotateKey(_ call: ControlCall) throws {
        call.fail(VarlinkService.methodNotImplemented, ["method": .string(call.method)])
    }
}
