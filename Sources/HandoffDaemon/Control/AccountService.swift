import HandoffAccount
import HandoffControl
import HandoffCrypto
import HandoffJSON
import HandoffModel
import HandoffPeers
import HandoffState
import LoopIO

/// The part of the control interface for the account and its devices. Lives on the daemon's loop.
final class AccountService {
    unowned let core: DaemonCore
    let loop: EventLoop
    /// The name of this device while it is in no account, and in an account that it creates.
    let name: String
    let accountStore: AccountStore
    let peers: Peers
    private let files: AccountFileService
    let removals: RemovalReports
    private let wallClock: any WallClock

    init(core: DaemonCore, files: AccountFileService, removals: RemovalReports, wallClock: any WallClock) {
        self.core = core
        loop = core.loop
        name = core.name
        accountStore = core.accountStore
        peers = core.peers
        self.files = files
        self.removals = removals
        self.wallClock = wallClock
    }

    /// Returns the exported account files that are still valid.
    func tickets() -> [ControlTicket] {
        guard let state = accountStore.state else { return [] }
        let now = wallClock.unixSeconds
        return state.view.openTickets.map { ticket in
            let export = state.exports.first { $0.ticket == ticket.id }
            return ControlTicket(
                id: ticket.id.hex, device: ticket.issuer, mine: ticket.issuer == accountStore.deviceID,
                age: export.map { Double($0.age(at: now)) })
        }
    }

    func create(_ call: ControlCall) {
        accountStore.create(name: name) { result in
            switch result {
            case .success(let id): call.reply(["account": .string(id.hex)])
            case .failure(let error): call.fail(CallError(error))
            }
        }
    }

    func get(_ call: ControlCall) {
        call.reply(account().json)
    }

    func listDevices(_ call: ControlCall) {
        call.reply(["devices": .array(devices().map { .object($0.json) })])
    }

    func export(_ call: ControlCall) throws {
        guard call.wantsUpgrade else { throw CallError.control(.expectedUpgrade) }
        _ = try accountStore.member(accountStore.state)
        try files.requireRoom()
        guard let stream = call.upgrade([:]) else { return }
        files.export(over: stream)
    }

    func `import`(_ call: ControlCall) throws {
        guard call.wantsUpgrade else { throw CallError.control(.expectedUpgrade) }
        try files.requireRoom()
        guard let stream = call.upgrade([:]) else { return }
        files.receive(over: stream)
    }

    func revokeExport(_ call: ControlCall) throws {
        let prefix = try Fields(call.parameters).text("ticket")
        let fitting = tickets().map(\.id).filter { OfferSelection.begins($0, with: prefix) }
        guard let ticket = fitting.first.flatMap({ Fingerprint(hex: $0) }) else { throw CallError.noSuchTicket(prefix) }
        guard fitting.count == 1 else { throw CallError.ambiguous(prefix, fitting, of: "tickets") }
        accountStore.revoke(ticket) { result in
            switch result {
            case .success: call.reply([:])
            // Another member has closed it first.
            case .failure(AccountError.noSuchTicket): call.fail(CallError.noSuchTicket(prefix))
            case .failure(let error): call.fail(error)
            }
        }
    }

    func rotateKey(_ call: ControlCall) {
        accountStore.rotate { result in
            switch result {
            case .success(let epoch): call.reply(["epoch": .integer(Int64(clamping: epoch))])
            case .failure(let error): call.fail(error)
            }
        }
    }

    func removeDevice(_ call: ControlCall) throws {
        guard call.wantsMore else { throw CallError.control(.expectedMore) }
        let fields = Fields(call.parameters)
        try removeDevice(
            try fields.text("device"), dropping: try fields.optional("drop") ?? [], call: call)
    }

    func renameDevice(_ call: ControlCall) throws {
        let fields = Fields(call.parameters)
        renameDevice(try fields.text("device"), to: try fields.text("name")) { result in
            switch result {
            case .success: call.reply([:])
            case .failure(let error): call.fail(error)
            }
        }
    }

    func leave(_ call: ControlCall) throws {
        leaveAccount { result in
            switch result {
            case .success(let notified): call.reply(["told": .array(notified.sorted().map { .string($0.hex) })])
            case .failure(let error): call.fail(error)
            }
        }
    }
}
