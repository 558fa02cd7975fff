import HandoffAccount
import HandoffControl
import HandoffDiscovery
import HandoffModel
import HandoffPeers
import HandoffProtocol
import HandoffState
import LoopIO

/// The replies to `GetStatus` and `Diagnose`.
extension ControlService {
    /// Returns the reply to `GetStatus`.
    func status() -> ControlStatus {
        let state = accountStore.state
        return ControlStatus(
            daemon: Version.daemon, device: accountStore.deviceID, name: displayName, kind: peers.kind,
            account: state?.accountID,
            standing: state?.standing(of: accountStore.deviceID),
            epoch: state?.epoch.map(UInt64.init), discovery: core.discovery.kind.rawValue,
            discoveryState: core.discoveryStates.text(of: core.discovery.kind), port: core.port, peers: shownPeers(),
            published: apps.store.count, offered: offers().count, tickets: account.tickets(),
            switches: switches.shown, warnings: warnings(),
            unansweredSince: unansweredSince.map { Double($0) }, savesPower: core.savesPower,
            keeping: peers.kept.isOn)
    }

    /// The time since which no other device has answered, if this device considers itself a member
    /// and other members exist.
    private var unansweredSince: UInt64? {
        guard let state = accountStore.state, state.standing(of: accountStore.deviceID) == .member,
            !accountStore.snapshot.others.isEmpty
        else { return nil }
        return core.contact.unansweredSince
    }

    private var displayName: String {
        // The roster has no name for a removed device.
        guard let state = accountStore.state, !state.view.isRemoved(accountStore.deviceID) else {
            return core.name
        }
        return accountStore.snapshot.name(of: accountStore.deviceID)
    }

    private func shownPeers() -> [ControlPeer] {
        let known = peers.table.all.map { peer in
            let best = peer.candidates.ranked.first
            return ControlPeer(
                device: peer.deviceID, name: accountStore.snapshot.name(of: peer.deviceID),
                address: best.flatMap { SocketAddress($0.address) }?.description,
                via: peer.isAnnounced ? .mdns : best?.sources.contains(.fixed) ?? false ? .static : .advert,
                connected: peers.isConnected(peer.deviceID), activities: peer.offers.count)
        }
        let unreached = peers.configuredAddresses.filter { _, device in
            device.flatMap { peers.table[$0] } == nil
        }
        return known
            + unreached.map { address, device in
                ControlPeer(
                    device: device, name: device.map { accountStore.snapshot.name(of: $0) }, address: address.text,
                    via: .static,
                    connected: false, activities: 0)
            }
    }

    private func warnings() -> [String] {
        var warnings: [String] = []
        if peers.hasDuplicateIdentity {
            warnings.append("another machine runs with this device's identity: reset one of the two state folders")
        }
        if let state = accountStore.state {
            if state.hasLeft(accountStore.deviceID) {
                warnings.append("this device has left its account, but could not delete it: leave the account again")
            } else if accountStore.snapshot.isJoining {
                warnings.append("this device has not joined its account yet: \(peers.joinObstacle)")
            } else if let words = state.standing(of: accountStore.deviceID).problem {
                warnings.append(words)
            }
            if state.view.isLive(accountStore.deviceID), !accountStore.snapshot.isJoining, !state.isCurrent {
                warnings.append("the account key in force has not reached this device yet")
            }
        }
        warnings += unfinishedWarnings()
        warnings += peers.outdated.sorted().map { id in
            let name = VisibleText.escape(accountStore.snapshot.name(of: id))
            return "\(name) (\(id.short)) uses another version of the protocol: update Handoff there"
        }
        switch core.discoveryStates.state(of: core.discovery.kind) {
        case .starting, .running: break
        case .impaired(let reason): warnings.append(reason)
        case .unavailable(let reason): warnings.append("discovery is not available: \(reason)")
        }
        return warnings
    }

    /// Warnings of `status` about devices that were admitted and may not know it.
    private func unfinishedWarnings() -> [String] {
        accountStore.unfinished.sorted().map { id in
            let name = VisibleText.escape(accountStore.snapshot.name(of: id))
            return "\(name) (\(id.short)) was admitted but has not finished joining: let it join again, or remove it"
        }
    }

    // MARK: - Diagnose

    /// The number of seconds by which a clock may be ahead without a warning. Devices start with
    /// their clock as generation.
    private static let clockTolerance: UInt64 = 300

    /// `Diagnose`. The worker examines the folder, because its disk may be the problem.
    func diagnose(completion: @escaping (ControlDiagnosis) -> Void) {
        let (folder, configuration) = (core.stored.folder, core.configuration)
        core.worker.run({ (folder.mode, Self.presence(configuration)) }, on: loop) { [weak self] result in
            guard let self else { return }
            let (mode, presence) = (try? result.get()) ?? (nil, nil)
            completion(
                ControlDiagnosis(
                    stateFolder: folder.path, stateMode: mode.map { Int($0) },
                    openFiles: MachineInfo.openFileLimit, lockedMemory: MachineInfo.lockedMemoryLimit,
                    isIsolated: MachineInfo.isInUserNamespace,
                    appProblems: installed.problems.sorted(),
                    members: members(), network: presence?.isPresent, missingInterfaces: presence?.missing,
                    missingAddress: presence?.missingAddress.map { "\($0)" }, notifications: core.notifications.report))
        }
    }

    /// Returns whether others can find this device; nil if the interfaces cannot be read. Call it
    /// on a worker.
    private static func presence(_ configuration: Configuration) -> NetworkPresence? {
        (try? InterfaceTable.current()).map {
            NetworkPresence($0, interfaces: configuration.interfaces, only: configuration.address)
        }
    }

    private func members() -> [ControlDiagnosis.Member] {
        let clock = core.wallClock.unixSeconds
        return accountStore.snapshot.live.subtracting([accountStore.deviceID]).sorted().map { device in
            let start = peers.table.seenGeneration(of: device) ?? 0
            let (ahead, underflow) = start.subtractingReportingOverflow(clock)
            let member = peers[device]
            return ControlDiagnosis.Member(
                device: device, name: accountStore.snapshot.name(of: device), online: peers.table[device] != nil,
                heard: member.heard.map { Double((loop.now - $0).components.seconds) }, trouble: member.trouble,
                clockAhead: !underflow && ahead > Self.clockTolerance ? Double(ahead) : nil)
        }
    }
}
