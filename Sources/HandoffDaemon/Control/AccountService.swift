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
        /// Removes the device that a text means, and those that it let in and other texts mean; answers the call itself.
        let removeDevice: (String, [String], ControlCall) throws -> Void
        let renameDevice: (String, String, @escaping (Result<Void, any Error>) -> Void) -> Void
        let leaveAccount: (@escaping (Result<Set<DeviceID>, any Error>) -> Void) -> Void
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
        guard call.wantsMore else { throw CallError.control(.expectedMore) }
        let fields = Fields(call.parameters)
        try surroundings.removeDevice(try fields.text("device"), try fields.optionalTexts("drop") ?? [], call)
    }

    func renameDevice(_ call: ControlCall) throws {
        let fields = Fields(call.parameters)
        surroundings.renameDevice(try fields.text("device"), try fields.text("name")) { result in
            switch result {
            case .success: call.reply([:])
            case .failure(let error): call.fail(error)
            }
        }
    }

    func leave(_ call: ControlCall) throws {
        surroundings.leaveAccount { result in
            switch result {
            case .success(let told): call.reply(["told": .array(told.sorted().map { .string($0.hex) })])
            case .failure(let error): call.fail(error)
            }
        }
    }
}
