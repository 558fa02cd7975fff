import CLinux
package import HandoffModel
package import LoopIO

/// A network to which this machine is connected, identified by its default route.
package struct PresentNetwork: Sendable, Equatable {
    package let interface: String
    package let gateway: IPAddress
    /// The hardware address that identifies the network; nil while the gateway has not been
    /// resolved.
    package let hardware: HardwareAddress?
}

/// The networks to which this machine is connected. A plain value that is updated from the kernel's
/// messages.
package struct NetworkTable: Sendable {
    private struct Gateway: Hashable {
        let interface: UInt32
        let address: IPAddress
    }

    private var names: [UInt32: String] = [:]
    /// The gateways with their hardware addresses.
    private var gateways: [Gateway: HardwareAddress?] = [:]
    /// The maximum number of gateways. Hosts on a link can announce any number of them.
    private static let maxGateways = 4096

    init() {}

    /// Applies one message. Gateways must be applied before neighbours: other hosts on a link,
    /// which can be any number, are not stored.
    package mutating func apply(_ change: InterfaceChange) {
        switch change {
        case .link(let index, let name, let flags):
            // IFF_UP and IFF_RUNNING.
            names[index] = flags & 0x41 == 0x41 ? name : nil
        case .gateway(let address, let interface):
            let gateway = Gateway(interface: interface, address: address)
            guard gateways.count < Self.maxGateways, gateways[gateway] == nil else { break }
            gateways.updateValue(nil, forKey: gateway)
        case .neighbour(let address, let hardware, let interface):
            let gateway = Gateway(interface: interface, address: address)
            if gateways[gateway] != nil { gateways.updateValue(hardware, forKey: gateway) }
        case .linkGone, .address, .addressGone, .done, .refused: break
        }
    }

    /// The networks without duplicates, ordered by interface and gateway.
    var present: [PresentNetwork] {
        let found = gateways.compactMap { gateway, hardware in
            names[gateway.interface].map { PresentNetwork(interface: $0, gateway: gateway.address, hardware: hardware) }
        }
        return found.sorted { ($0.interface, $0.gateway.description) < ($1.interface, $1.gateway.description) }
    }

    /// Reads the current networks. Call it on a worker, because it may wait.
    /// - Throws: If no descriptor is available.
    package static func current() throws(Errno) -> [PresentNetwork] {
        var table = NetworkTable()
        try KernelTables.read([clinux_netlink_get_link, clinux_netlink_get_route, clinux_netlink_get_neigh]) {
            table.apply($0)
        }
        return table.present
    }
}

/// Notifies its owner when the networks may have changed, because links, addresses, routes or
/// neighbours have (rtnetlink(7)). It must be used on an event loop.
package final class NetworkMonitor {
    /// The delay before a notification. The kernel reports many changes at a time, and neighbours
    /// repeatedly.
    private static let delay = Duration.milliseconds(300)

    private let loop: EventLoop
    private let descriptor: Descriptor
    private let onChange: () -> Void
    private var source: EventSource?
    private var timer: LoopTimer?
    private var buffer = [UInt8](repeating: 0, count: 65536)

    /// Starts to listen.
    /// - Throws: If no descriptor is available.
    package init(loop: EventLoop, onChange: @escaping () -> Void) throws(Errno) {
        let raw = clinux_netlink_open(1)
        guard raw >= 0 else { throw .current }
        descriptor = Descriptor(owning: raw)
        self.loop = loop
        self.onChange = onChange
        source = try loop.watch(raw, .readable) { [weak self] _ in self?.receive() }
    }

    deinit {
        source?.cancel()
    }

    private func receive() {
        // The messages are discarded: the tables are read later and also contain lost changes. A
        // few receive calls empty the queue.
        for _ in 0..<64 where clinux_netlink_receive(descriptor.raw, &buffer, buffer.count) < 0 { break }
        guard timer?.isArmed != true else { return }
        timer = loop.timer(after: Self.delay, accuracy: .milliseconds(100)) { [weak self] in self?.onChange() }
    }
}
