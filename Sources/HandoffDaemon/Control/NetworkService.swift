import HandoffControl
import HandoffDiscovery
import HandoffHandlers
import HandoffJSON
import HandoffModel
import HandoffState
import LoopIO

/// The part of the control interface for networks. Lives on the daemon's loop.
final class NetworkService {
    /// The time in which the desktop must return the names of the networks. After it they are
    /// listed without names.
    private static let namesTimeout = Duration.seconds(3)

    private let loop: EventLoop
    private let networks: NetworkWatch
    private let desktop: DesktopLink?

    init(loop: EventLoop, networks: NetworkWatch, desktop: DesktopLink?) {
        self.loop = loop
        self.networks = networks
        self.desktop = desktop
    }

    /// Replies with the present and the known networks.
    func list(_ call: ControlCall) {
        networks.read { [self] result in
            switch result {
            case .success(let trust): requestNames { call.reply(Self.shown(trust, $0).json) }
            case .failure(let error): call.fail(error)
            }
        }
    }

    /// Adds a network to the known ones: the specified one, or the only present one that is not
    /// known.
    func trust(_ call: ControlCall) throws {
        let fields = Fields(call.parameters)
        let meant = try fields.optionalText("network")
        let name = try fields.optionalText("name")
        if let name, !Self.isName(name) { throw VarlinkError.invalidParameter("name") }
        networks.read { [self] result in
            do {
                let trust = try result.get()
                let gateway = try Self.choose(meant, in: trust)
                guard !gateway.isVirtualRouter else {
                    throw CallError.noSuchNetwork(
                        "the gateway \(gateway.text) is a virtual router (VRRP, CARP, HSRP or GLBP): many other networks have the "
                            + "same address, so it does not identify this one")
                }
                requestNames { [self] names in
                    let connection = trust.present.first { $0.hardware == gateway }.flatMap { names[$0.interface] }
                    let name = name ?? connection.flatMap { Self.isName($0) ? $0 : nil } ?? ""
                    var known = networks.trust.known
                    guard known.add(gateway, name: name) else {
                        let message = "at most \(NetworksFile.maxEntries) networks can be known; forget some first"
                        return call.fail(CallError.limitExceeded("networks", message))
                    }
                    store(known, call, names)
                }
            } catch {
                call.fail(error)
            }
        }
    }

    private static func isName(_ text: String) -> Bool {
        text.utf8.count <= NetworksFile.maxNameLength && !text.contains(where: \.isNewline) && !text.utf8.contains(0)
    }

    /// Removes a known network, by its id or its name.
    func forget(_ call: ControlCall) throws {
        let meant = try Fields(call.parameters).text("network")
        let gateways = networks.trust.known.entries.filter {
            $0.gateway == HardwareAddress(meant) || $0.name == meant
        }
        guard let gateway = gateways.first?.gateway else {
            throw CallError.noSuchNetwork("no known network has this name or id")
        }
        guard gateways.count == 1 else {
            throw CallError.noSuchNetwork("several networks have this name: specify one by its id")
        }
        requestNames { [self] names in
            var known = networks.trust.known
            known.remove(gateway)
            store(known, call, names)
        }
    }

    /// Requests the names of the present networks, by interface, from the desktop. Names that do
    /// not arrive in time are omitted.
    private func requestNames(_ completion: @escaping ([String: String]) -> Void) {
        guard let desktop else { return completion([:]) }
        var waiting: (([String: String]) -> Void)? = completion
        func answer(_ names: [String: String]) {
            let completion = waiting
            waiting = nil
            completion?(names)
        }
        let timer = loop.timer(after: Self.namesTimeout) { answer([:]) }
        desktop.call(.getNetworkNames) { result in
            timer.cancel()
            answer((try? NetworkNames(json: result.get()))?.byInterface ?? [:])
        }
    }

    private func store(_ known: NetworksFile, _ call: ControlCall, _ names: [String: String]) {
        networks.store(known) { [networks] result in
            switch result {
            case .success: call.reply(Self.shown(networks.trust, names).json)
            case .failure(let error): call.fail(error)
            }
        }
    }

    /// Returns the gateway of the specified network. `meant` is an id or an interface; nil means
    /// the only present network that is not known.
    private static func choose(_ meant: String?, in trust: NetworkTrust) throws -> HardwareAddress {
        if let gateway = meant.flatMap({ HardwareAddress($0) }) { return gateway }
        let fitting = trust.present.filter { meant == nil || $0.interface == meant }
        guard !fitting.isEmpty else {
            throw CallError.noSuchNetwork(
                meant.map { "there is no network on the interface \($0)" }
                    ?? "this device is not in a network with a gateway")
        }
        let gateways = Set(fitting.compactMap(\.hardware))
        guard !gateways.isEmpty else {
            throw CallError.noSuchNetwork(
                "the gateway's address is not known yet: use the network, for example with ping, and try again")
        }
        let unknown = gateways.filter { trust.known[$0] == nil }
        let chosen = unknown.isEmpty ? gateways : unknown
        guard chosen.count == 1, let gateway = chosen.first else {
            throw CallError.noSuchNetwork("this device is in several networks: specify an interface or an id")
        }
        return gateway
    }

    private static func shown(_ trust: NetworkTrust, _ names: [String: String]) -> ControlNetworks {
        let present = trust.present.map { network in
            ControlNetwork(
                id: network.hardware?.text, interface: network.interface, gateway: network.gateway.description,
                name: network.hardware.flatMap { trust.known[$0]?.name }, connection: names[network.interface],
                known: trust.isKnown(network))
        }
        let here = Set(trust.present.compactMap(\.hardware))
        let elsewhere = trust.known.entries.filter { !here.contains($0.gateway) }.map {
            ControlNetwork(id: $0.gateway.text, interface: nil, gateway: nil, name: $0.name, known: true)
        }
        return ControlNetworks(
            knownOnly: trust.policy == .known, silent: trust.restriction != nil, networks: present + elsewhere)
    }
}
