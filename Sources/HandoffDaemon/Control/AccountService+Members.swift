import HandoffAccount
import HandoffControl
import HandoffHandlers
import HandoffJSON
import HandoffModel
import HandoffPeers
import HandoffProtocol
import HandoffState
import LoopIO

/// The devices of the account: listing, renaming and removing them, and leaving.
extension AccountService {
    /// Returns the devices of the account. Without an account, or once removed from it, returns
    /// this device alone.
    func devices() -> [ControlDevice] {
        guard let state = accountStore.state, state.view.isLive(accountStore.deviceID) else {
            return [
                ControlDevice(
                    id: accountStore.deviceID, name: name, label: name, kind: peers.kind,
                    isSelf: true,
                    online: true)
            ]
        }
        // These properties are computed on each access.
        let snapshot = accountStore.snapshot
        let unfinished = accountStore.unfinished
        return state.view.live.sorted().map { id in
            let isSelf = id == accountStore.deviceID
            let peer = peers.table[id]
            return ControlDevice(
                id: id, name: snapshot.name(of: id), label: snapshot.label(of: id),
                kind: isSelf ? peers.kind : peer?.kind ?? .other, isSelf: isSelf,
                online: isSelf || peer != nil, current: isSelf ? state.isCurrent : peers[id].hasKey,
                unfinished: unfinished.contains(id), admittedBy: state.view.admitter(of: id),
                heard: isSelf
                    ? nil : peers[id].heard.map { Double($0.duration(to: loop.now).components.seconds) },
                asleepSince: peers.asleepSince(id).map { Double($0) }, acceptLimit: core.appSwitches.accepted[id])
        }
    }

    // MARK: - Changing

    /// Returns the member that matches a name or the beginning of an id.
    func member(_ text: String) throws -> DeviceID {
        _ = try accountStore.member(accountStore.state)
        switch accountStore.snapshot.names.choose(text) {
        case .one(let device): return device
        case .nothing: throw CallError.noSuchDevice(text)
        case .ambiguous(let devices): throw CallError.ambiguous(text, devices, accountStore.snapshot.names)
        }
    }

    /// Renames a member.
    func renameDevice(_ text: String, to name: String, completion: @escaping (Result<Void, any Error>) -> Void) {
        do {
            accountStore.rename(try member(text), to: name, completion: completion)
        } catch {
            completion(.failure(error))
        }
    }

    /// Sets whether documents of a member are saved without a prompt.
    func setDeviceAccepted(_ call: ControlCall) throws {
        let fields = Fields(call.parameters)
        let text = try fields.text("device")
        let device = try member(text)
        guard device != accountStore.deviceID else {
            throw CallError.noSuchDevice(text, "this is the device itself, which does not send to itself")
        }
        let limit: Int64? = try fields.optional("limit")
        guard limit ?? 0 >= 0 else { throw fields.invalid("limit") }
        var next = core.appSwitches
        let live = accountStore.snapshot.live
        next.accepted = next.accepted.filter { live.contains($0.key) }
        next.accepted[device] = limit
        guard next.encoded() != nil else {
            throw CallError.limitExceeded("devices", "too many settings are stored")
        }
        core.store(next) { result in
            switch result {
            case .success: call.reply(["device": .string(device.hex)])
            case .failure(let error): call.fail(error)
            }
        }
    }

    /// Removes a member. `call` receives the members that know of it, until all do.
    func removeDevice(_ text: String, dropping: [String], call: ControlCall) throws {
        let device = try member(text)
        let admitted = accountStore.state?.view.admitted(by: device) ?? []
        let dropped = try dropping.map { text in
            let dropped = try member(text)
            guard admitted.contains(dropped) else { throw CallError.notAdmitted(dropped, by: device) }
            return dropped
        }
        guard device != accountStore.deviceID else { return leaveByRemoval(call) }
        accountStore.remove(device, dropping: Set(dropped)) { [self] result in
            switch result {
            case .success(let state):
                let confirmed = peers.keyHolders.union([accountStore.deviceID])
                removals.begin(call, removed: device, confirmed: confirmed, members: state.view.live)
            case .failure(let error): call.fail(error)
            }
        }
    }

    private func leaveByRemoval(_ call: ControlCall) {
        let device = accountStore.deviceID
        let others = accountStore.snapshot.live.subtracting([device])
        leaveAccount { result in
            switch result {
            case .success(let notified):
                let event = RemovalEvent(
                    kind: .removed, device: device, confirmed: notified.sorted(),
                    waiting: others.subtracting(notified).sorted())
                call.reply(event.json)
            case .failure(let error): call.fail(error)
            }
        }
    }

    // MARK: - Leaving

    /// Removes this device from its account, and gives it a new identity. The daemon then continues
    /// with a new core.
    ///
    /// The order makes this safe: the removal is stored and sent before the account and identity
    /// are deleted. After a crash in between, the device has left, and the next start completes the
    /// rest. A device that was removed by others has nothing to send.
    ///
    /// - Parameter completion: receives the notified members, before the new core starts.
    func leaveAccount(completion: @escaping (Result<Set<DeviceID>, any Error>) -> Void) {
        guard let state = accountStore.state else { return completion(.failure(AccountStore.Refusal.noAccount)) }
        guard state.view.isLive(accountStore.deviceID) else {
            return core.resetIdentity(notified: [], completion: completion)
        }
        var notified: Set<DeviceID> = []
        accountStore.leave { [peers] state, done in
            peers.notifyLeaving(state) {
                notified = $0
                done()
            }
        } completion: { [core] result in
            switch result {
            case .success: core.resetIdentity(notified: notified, completion: completion)
            case .failure(let error): completion(.failure(error))
            }
        }
    }

    /// Returns the account, for the control interface.
    func account() -> ControlAccount {
        let state = accountStore.state
        return ControlAccount(
            account: state?.accountID, epoch: state?.epoch.map(UInt64.init), devices: state?.view.live.count ?? 0,
            tickets: tickets())
    }
}
