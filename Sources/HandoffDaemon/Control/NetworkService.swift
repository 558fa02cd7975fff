import HandoffConfiguration
import HandoffControl
import HandoffControlServer
import HandoffDiscovery
import HandoffModel
import HandoffState
import LoopIO

/// The part of the control interface that concerns networks. Lives on the daemon's loop.
final class NetworkService {
    private unowned let core: DaemonCore

    init(core: DaemonCore) {
        self.core = core
    }

    /// Answers with the networks that are here and those that are known.
    func list(_ call: ControlCall) {
        core.networks.read { result in
            switch result {
            case .success(let trust): call.reply(Self.shown(trust).json)
            case .failure(let error): call.fail(error)
            }
        }
    }

    /// Makes a network known: the one that is meant, or the only one that is here and not known.
    func trust(_ call: ControlCall) throws {
        let fields = Fields(call.parameters)
        let meant = try fields.optionalText("network")
        let name = try fields.optionalText("name") ?? ""
        guard name.utf8.count <= NetworksFile.longestName, !name.contains(where: \.isNewline), !name.utf8.contains(0)
        else { throw VarlinkError.invalidParameter("name") }
        core.networks.read { [core] result in
            do {
                let trust = try result.get()
                let gateway = try Self.choose(meant, in: trust)
                var known = trust.known
                guard known.add(gateway, name: name) else {
                    throw CallError.limitExceeded(
                        "networks", "\(NetworksFile.most) networks are known at most; forget some first")
                }
                Self.store(known, call, core)
            } catch {
                call.fail(error)
            }
        }
    }

    /// Forgets a network, by its id or its name.
    func forget(_ call: ControlCall) throws {
        let meant = try Fields(call.parameters).text("network")
        var known = core.networks.trust.known
        let gateways = known.entries.filter { $0.gateway == HardwareAddress(meant) || $0.name == meant }
        guard let gateway = gateways.first?.gateway else {
            throw CallError.noSuchNetwork("no network that is known is called so, or has this id")
        }
        guard gateways.count == 1 else {
            throw CallError.noSuchNetwork("several networks are called so: name one by its id")
        }
        known.remove(gateway)
        Self.store(known, call, core)
    }

    private static func store(_ known: NetworksFile, _ call: ControlCall, _ core: DaemonCore) {
        core.networks.store(known) { result in
            switch result {
            case .success: call.reply(shown(core.networks.trust).json)
            case .failure(let error): call.fail(error)
            }
        }
    }

    /// The gateway of the network that is meant: an id, or an interface; nil: the only one that is here and not known.
    private static func choose(_ meant: String?, in trust: NetworkTrust) throws -> HardwareAddress {
        if let gateway = meant.flatMap({ HardwareAddress($0) }) { return gateway }
        let fitting = trust.present.filter { meant == nil || $0.interface == meant }
        guard !fitting.isEmpty else {
            throw CallError.noSuchNetwork(
                meant.map { "no network is on an interface called \($0)" }
                    ?? "this device is in no network with a gateway")
        }
        let gateways = Set(fitting.compactMap(\.hardware))
        guard !gateways.isEmpty else {
            throw CallError.noSuchNetwork(
                "the gateway has not said its address yet: use the network once, as by a ping, and try again")
        }
        let unknown = gateways.filter { trust.known[$0] == nil }
        let chosen = unknown.isEmpty ? gateways : unknown
        guard chosen.count == 1, let gateway = chosen.first else {
            throw CallError.noSuchNetwork("this device is in several networks: name an interface, or an id")
        }
        return gateway
    }

    private static func shown(_ trust: NetworkTrust) -> ControlNetworks {
        let present = trust.present.map { network in
            ControlNetwork(
                id: network.hardware?.text, interface: network.interface, gateway: network.gateway.description,
                name: network.hardware.flatMap { trust.known[$0]?.name }, known: trust.isKnown(network))
        }
        let here = Set(trust.present.compactMap(\.hardware))
        let elsewhere = trust.known.entries.filter { !here.contains($0.gateway) }.map {
            ControlNetwork(id: $0.gateway.text, interface: nil, gateway: nil, name: $0.name, known: true)
        }
        return ControlNetworks(
            knownOnly: trust.policy == .known, silent: trust.hold != nil, networks: present + elsewhere)
    }
}
