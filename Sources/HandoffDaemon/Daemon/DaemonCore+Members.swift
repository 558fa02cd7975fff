import HandoffAccount
import HandoffControl
import HandoffCrypto
import HandoffHandlers
import HandoffLog
import HandoffModel
import HandoffProtocol
import LoopIO

/// Who belongs to the account: showing and removing devices, naming them, leaving.
extension DaemonCore {
    // MARK: - Showing

    /// The devices of the account; without one, or once removed from it, this device alone.
    func devices() -> [ControlDevice] {
        guard let state = keeper.state, state.view.isLive(keeper.deviceID) else {
            return [ControlDevice(id: keeper.deviceID, name: name, kind: kind, isSelf: true, online: true)]
        }
        // Each is made anew when it is asked for.
        let ring = self.ring
        let unfinished = keeper.unfinished
        return state.view.live.sorted().map { id in
            let isSelf = id == keeper.deviceID
            let peer = network.table[id]
            return ControlDevice(
                id: id, name: ring.name(of: id), kind: isSelf ? kind : peer?.kind ?? .other, isSelf: isSelf,
                online: isSelf || peer != nil, current: isSelf ? state.isCurrent : holders.devices.contains(id),
                unfinished: unfinished.contains(id), admittedBy: state.view.admitter(of: id))
        }
    }

    /// Lines for `status` about devices that were let in and may not know it.
    func unfinishedWarnings() -> [String] {
        keeper.unfinished.sorted().map { id in
            let name = VisibleText.escape(ring.name(of: id))
            return "\(name) (\(id.short)) was let in and has not finished joining: let it join again, or remove it"
        }
    }

    // MARK: - Changing

    /// The member that a user means.
    func member(_ text: String) throws -> DeviceID {
        let state = try keeper.member(keeper.state)
        switch DeviceSelection.choose(text, among: state.view.live, name: { ring.name(of: $0) }) {
        case .one(let device): return device
        case .nothing: throw CallError.noSuchDevice(text)
        case .ambiguous(let devices): throw CallError.ambiguous(text, devices.map(\.hex), of: "devices")
        }
    }

    /// Gives a member another name.
    func renameDevice(_ text: String, to name: String, completion: @escaping (Result<Void, any Error>) -> Void) {
        do {
            keeper.rename(try member(text), to: name, completion: completion)
        } catch {
            completion(.failure(error))
        }
    }

    /// Removes a member; `call` is told who knows of it, until all do.
    func removeDevice(_ text: String, dropping: [String], call: ControlCall) throws {
        let device = try member(text)
        let admitted = keeper.state?.view.admitted(by: device) ?? []
        let dropped = try dropping.map { text in
            let dropped = try member(text)
            guard admitted.contains(dropped) else { throw CallError.notAdmitted(dropped, by: device) }
            return dropped
        }
        guard device != keeper.deviceID else { return leaveByRemoval(call) }
        keeper.remove(device, dropping: Set(dropped)) { [self] result in
            switch result {
            case .success(let state):
                let confirmed = holders.devices.union([keeper.deviceID])
                removals.begin(call, removed: device, confirmed: confirmed, members: state.view.live)
            case .failure(let error): call.fail(error)
            }
        }
    }

    private func leaveByRemoval(_ call: ControlCall) {
        let device = keeper.deviceID
        let others = ring.live.subtracting([device])
        leaveAccount { result in
            switch result {
            case .success(let told):
                let event = RemovalEvent(
                    kind: .removed, device: device, confirmed: told.sorted(),
                    waiting: others.subtracting(told).sorted())
                call.reply(event.json)
            case .failure(let error): call.fail(error)
            }
        }
    }

    // MARK: - Leaving

    /// Takes this device out of its account, and gives it a new identity; the daemon then begins anew.
    ///
    /// The order is what makes it safe: the removal is stored, then told, then account and identity are given up. A crash in
    /// between leaves a device that has left, and the next start does the rest. A device that was removed by others has
    /// nothing to tell.
    ///
    /// - Parameter completion: gets the members that know of it, before the daemon begins anew.
    func leaveAccount(completion: @escaping (Result<Set<DeviceID>, any Error>) -> Void) {
        guard let state = keeper.state else { return completion(.failure(AccountKeeper.Refusal.noAccount)) }
        guard state.view.isLive(keeper.deviceID) else { return startAfresh(told: [], completion: completion) }
        keeper.leave { [self] state, done in
            farewell = Farewell(
                ring.live.subtracting([keeper.deviceID]), statements: state.roster.encoded(), on: loop,
                link: { $1(pool.link(to: $0)) }, completion: done)
        } completion: { [self] result in
            let told = farewell?.told ?? []
            farewell = nil
            switch result {
            case .success: startAfresh(told: told, completion: completion)
            case .failure(let error): completion(.failure(error))
            }
        }
    }

    private func startAfresh(
        told: Set<DeviceID>, completion: @escaping (Result<Set<DeviceID>, any Error>) -> Void
    ) {
        worker.run({ [folder = stored.folder] in try folder.startAfresh() }, on: loop) { [weak self] result in
            guard let self else { return }
            switch result {
            case .success(let identity):
                let next = stored.renewed(
                    identity: identity, boot: boot, peers: peersFile, apps: disabledApps,
                    claims: installed.registry.history, switches: board.switches)
                completion(.success(told))
                // After the answer, which goes out while the clients' connections end.
                loop.later { [weak self] in self?.onLeft?(next) }
            case .failure(let error):
                log.error("Cannot forget the account that this device has left", ["error": "\(error)"])
                completion(.failure(error))
            }
        }
    }
}
