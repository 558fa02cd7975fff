import HandoffAccount
import HandoffControl
import HandoffDiscovery
import HandoffLog
import HandoffModel
import LoopIO

/// Making windows and attempts to join.
extension DaemonCore {
    /// The key of a new epoch may still be on its way: `Inviter` waits for it once somebody is let in.
    func requireKey() throws {
        guard try keeper.member(keeper.state).held != nil else { throw AccountError.noCurrentKey }
    }

    /// A window that is not open yet.
    func inviter(isAutomatic: Bool) throws -> Inviter {
        // Whoever wants no fixed port for the daemon wants none here.
        let ports = configuration.port == .any ? nil : BoundPort.defaultPorts
        do {
            return try Inviter(
                isAutomatic: isAutomatic, ports: ports, addresses: pairingAddresses, air: air, keeper: keeper,
                allowance: pairingAllowance, loop: loop, log: log.named("pairing"))
        } catch {
            throw PairingFailure.cannotOpen("\(error)").callError
        }
    }

    /// An attempt to join that has not begun.
    func joiner(_ request: JoinRequest) throws -> Joiner {
        do {
            return try Joiner(
                request, name: name, addresses: pairingAddresses, air: air, keeper: keeper, wallClock: wallClock,
                loop: loop, log: log.named("pairing"))
        } catch let failure as PairingFailure {
            throw failure.callError
        }
    }

    private var pairingAddresses: PairingAddresses {
        PairingAddresses(only: configuration.address, interfaces: configuration.interfaces)
    }
}
