import HandoffAccount
import HandoffControl
import HandoffDiscovery
import HandoffLog
import HandoffModel
import LoopIO

/// What the pairing service needs.
extension DaemonCore {
    /// The lines from pairing to the rest of the daemon.
    var pairingSurroundings: PairingService.Surroundings {
        PairingService.Surroundings(
            isMember: { [unowned self] in keeper.state?.view.isLive(keeper.deviceID) ?? false },
            mayInvite: { [unowned self] in try requireKey() },
            mayJoin: { [unowned self] in
                try keeper.refuseAnother(keeper.state)
            },
            inviter: { [unowned self] in try inviter(isAutomatic: $0) },
            joiner: { [unowned self] in try joiner($0) })
    }

    /// The key of a new epoch may still be on its way: `Inviter` waits for it once somebody is let in.
    private func requireKey() throws {
        guard try keeper.member(keeper.state).held != nil else { throw AccountError.noCurrentKey }
    }

    private func inviter(isAutomatic: Bool) throws -> Inviter {
        let (only, interfaces) = (configuration.address, configuration.interfaces)
        let address = only ?? (interfaces == ["lo"] ? IPAddress.loopbackIPv4 : nil)
        // Whoever wants no fixed port for the daemon wants none here.
        let ports = configuration.port == .any ? nil : BoundPort.defaultPorts
        do {
            return try Inviter(
                isAutomatic: isAutomatic, ports: ports, address: address, air: air, loop: loop,
                log: log.named("pairing"),
                surroundings: Inviter.Surroundings(
                    identity: stored.identity, name: { [unowned self] in ring.name(of: keeper.deviceID) },
                    account: { [unowned self] in keeper.state },
                    admit: { [unowned self] in keeper.admit($0, name: $1, completion: $2) },
                    finished: { [unowned self] in keeper.finished($0) },
                    addresses: {
                        // Without the table there are no addresses to show; discovery may still find the window.
                        let table = (try? InterfaceTable.current()) ?? InterfaceTable()
                        return PairingAddresses.reachable(table, only: address, interfaces: interfaces)
                    }, allowance: pairingAllowance))
        } catch {
            throw PairingFailure.cannotOpen("\(error)").callError
        }
    }

    private func joiner(_ request: JoinRequest) throws -> Joiner {
        let (only, interfaces) = (configuration.address, configuration.interfaces)
        do {
            return try Joiner(
                request, air: air, loop: loop, log: log.named("pairing"),
                surroundings: Joiner.Surroundings(
                    identity: stored.identity, name: name,
                    join: { [unowned self] in keeper.join(roster: $0, accountKey: $1, completion: $2) },
                    isOnNetwork: {
                        guard let table = try? InterfaceTable.current() else { return true }
                        return PairingAddresses.isOnNetwork(table, only: only, interfaces: interfaces)
                    }, unixSeconds: unixSeconds))
        } catch let failure as PairingFailure {
            throw failure.callError
        }
    }
}
