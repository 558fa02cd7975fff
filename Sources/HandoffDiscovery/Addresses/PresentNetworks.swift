import CLinux
package import HandoffModel
package import LoopIO

/// A network that this machine is in, as its default route shows it.
package struct PresentNetwork: Sendable, Equatable {
    /// The interface.
    package let interface: String
    /// The address of the gateway on it.
    package let gateway: IPAddress
    /// By which the network is known; nil while nobody has asked the gateway for it.
    package let hardware: HardwareAddress?

    package init(interface: String, gateway: IPAddress, hardware: HardwareAddress?) {
        self.interface = interface
        self.gateway = gateway
        self.hardware = hardware
    }
}

/// The networks that this machine is in: plain values, fed with the kernel's messages.
package struct NetworkTable: Sendable {
    private var names: [UInt32: String] = [:]
    private var gateways: [(interface: UInt32, address: IPAddress)] = []
    private var neighbours: [UInt32: [IPAddress: HardwareAddress]] = [:]
    /// Neighbours of one interface that are kept; gateways are asked for first of all.
    private static let mostNeighbours = 4096

    package init() {}

    /// Takes one message in.
    package mutating func apply(_ change: InterfaceChange) {
        switch change {
        case .link(let index, let name, let flags):
            // IFF_UP and IFF_RUNNING.
            names[index] = flags & 0x41 == 0x41 ? name : nil
        case .gateway(let address, let interface):
            if gateways.count < Self.mostNeighbours { gateways.append((interface, address)) }
        case .neighbour(let address, let hardware, let interface):
            if neighbours[interface, default: [:]].count < Self.mostNeighbours {
                neighbours[interface, default: [:]][address] = hardware
            }
        case .linkGone, .address, .addressGone, .done, .refused: break
        }
    }

    /// The networks, by interface and gateway, each once.
    package var present: [PresentNetwork] {
        var found: [PresentNetwork] = []
        for (index, address) in gateways {
            guard let name = names[index] else { continue }
            let network = PresentNetwork(
                interface: name, gateway: address, hardware: neighbours[index]?[address])
            if !found.contains(network) { found.append(network) }
        }
        return found.sorted { ($0.interface, $0.gateway.description) < ($1.interface, $1.gateway.description) }
    }

    /// The networks as they are now; for a worker.
    /// - Throws: when there is no descriptor for it.
    package static func current() throws(Errno) -> [PresentNetwork] {
        var table = NetworkTable()
        try KernelTables.read([clinux_netlink_get_link, clinux_netlink_get_route, clinux_netlink_get_neigh]) {
            table.apply($0)
        }
        return table.present
    }
}

/// Says when the networks may have changed: links, addresses, routes or neighbours have (rtnetlink(7)). Lives on a loop.
package final class NetworkNews {
    /// How soon it is told; the kernel tells of many things at once, and of neighbours again and again.
    private static let pause = Duration.milliseconds(300)

    private let loop: EventLoop
    private let descriptor: Descriptor
    private let onNews: () -> Void
    private var source: EventSource?
    private var timer: LoopTimer?
    private var buffer = [UInt8](repeating: 0, count: 65536)

    /// Begins to listen.
    /// - Throws: when there is no descriptor for it.
    package init(loop: EventLoop, onNews: @escaping () -> Void) throws(Errno) {
        let raw = clinux_netlink_open(1)
        guard raw >= 0 else { throw .current }
        descriptor = Descriptor(owning: raw)
        self.loop = loop
        self.onNews = onNews
        source = try loop.watch(raw, .readable) { [weak self] _ in self?.receive() }
    }

    deinit {
        source?.cancel()
    }

    private func receive() {
        // What it says is read from the tables, which also have what was lost; a few turns empty what has come.
        for _ in 0..<64 where clinux_netlink_receive(descriptor.raw, &buffer, buffer.count) < 0 { break }
        guard timer?.isArmed != true else { return }
        timer = loop.timer(after: Self.pause, accuracy: .milliseconds(100)) { [weak self] in self?.onNews() }
    }
}
