import CLinux
import Glibc
package import LoopIO

/// The links and addresses of this machine. A plain value that is updated from the kernel's
/// messages.
package struct InterfaceTable: Sendable, Equatable {
    private struct Link: Sendable, Equatable {
        var name: String
        var isUsable: Bool
        var isLoopback: Bool
        var isMulticast: Bool
    }

    private var links: [UInt32: Link] = [:]
    private var addresses: [LocalAddress: Bool] = [:]

    package init() {}

    /// Applies one message. `done` and `refused` change nothing.
    package mutating func apply(_ change: InterfaceChange) {
        switch change {
        case .link(let index, let name, let flags):
            // IFF_UP, and IFF_RUNNING: a cable is connected or the network is joined. IFF_LOOPBACK.
            // IFF_MULTICAST without IFF_POINTOPOINT.
            links[index] = Link(
                name: name, isUsable: flags & 0x41 == 0x41, isLoopback: flags & 0x8 != 0,
                isMulticast: flags & 0x1010 == 0x1000)
        case .linkGone(let index):
            links[index] = nil
            addresses = addresses.filter { $0.key.interface != index }
        case .address(let address, let flags):
            // IFA_F_TENTATIVE (0x40), IFA_F_DADFAILED (0x08): not (yet) assigned. IFA_F_DEPRECATED
            // (0x20): no longer used for new connections.
            addresses[address] = flags & 0x68 == 0
        case .addressGone(let address):
            addresses[address] = nil
        case .gateway, .neighbour, .done, .refused:
            break
        }
    }

    /// The addresses that other devices can use now, ordered by interface, IPv4 first.
    package var usable: [LocalAddress] {
        addresses.filter { $0.value && links[$0.key.interface]?.isUsable == true }.keys.sorted { one, other in
            (one.interface, one.address.bytes.count) == (other.interface, other.address.bytes.count)
                ? one.address.bytes.lexicographicallyPrecedes(other.address.bytes)
                : (one.interface, one.address.bytes.count) < (other.interface, other.address.bytes.count)
        }
    }

    /// Returns the name of an interface, or nil if none has that index.
    package func name(of index: UInt32) -> String? { links[index]?.name }

    package func isLoopback(_ index: UInt32) -> Bool { links[index]?.isLoopback == true }

    /// Returns whether an interface supports multicast to several hosts and is not the machine's
    /// loopback.
    func isMulticast(_ index: UInt32) -> Bool {
        links[index].map { $0.isMulticast && !$0.isLoopback } ?? false
    }

    /// Returns whether an interface is up and connected.
    package func isUsable(_ index: UInt32) -> Bool { links[index]?.isUsable == true }

    /// Returns the index of a named interface, or nil if it does not exist.
    package func index(of name: String) -> UInt32? { links.first { $0.value.name == name }?.key }

    /// Returns the indexes for an option that lists interface names: those that exist, or only nil
    /// (all) for an empty list.
    func indexes(of names: [String]) -> [UInt32?] {
        guard !names.isEmpty else { return [nil] }
        let indexes: [UInt32] = names.compactMap { index(of: $0) }
        return indexes.map { $0 }
    }

    /// Returns whether this machine may connect to a peer's address that was reported on an
    /// interface: on-link there, link-local, private, or loopback on the loopback interface. Any
    /// host on the link can announce any address, and must not be able to redirect connections
    /// elsewhere.
    package func accepts(_ address: IPAddress, on index: UInt32) -> Bool {
        guard address.isUnicast, isUsable(index) else { return false }
        if address.isLoopback || isLoopback(index) { return address.isLoopback && isLoopback(index) }
        return address.isLinkLocal || address.isPrivate || isOnLink(address, on: index)
    }

    /// Returns whether an address is in the prefix of one of this machine's addresses on that
    /// interface.
    package func isOnLink(_ address: IPAddress, on index: UInt32) -> Bool {
        addresses.keys.contains {
            // A prefix of 0, as on a tunnel, would make every address on-link.
            $0.interface == index && $0.prefixLength > 0 && $0.address.matches(address, prefixLength: $0.prefixLength)
        }
    }
}

package struct LocalAddress: Hashable, Sendable {
    /// The index of the interface.
    package let interface: UInt32
    /// The address, without scope.
    package let address: IPAddress
    /// The number of leading bits that all hosts on the link share.
    package let prefixLength: Int

    package init(interface: UInt32, address: IPAddress, prefixLength: Int) {
        self.interface = interface
        self.address = address
        self.prefixLength = prefixLength
    }
}

extension InterfaceTable {
    /// Reads the current links and addresses of this machine once (rtnetlink(7)). `LocalAddresses`
    /// follows changes. The kernel replies immediately. If it does not, the result contains what
    /// arrived within a second.
    /// - Throws: If no descriptor is available.
    package static func current() throws(Errno) -> InterfaceTable {
        var table = InterfaceTable()
        try KernelTables.read([clinux_netlink_get_link, clinux_netlink_get_addr]) { table.apply($0) }
        return table
    }
}

/// Reads the kernel's tables once (rtnetlink(7)).
enum KernelTables {
    /// Reads tables one after the other. The kernel replies immediately. If it does not, the result
    /// contains what arrived within a second.
    /// - Throws: If no descriptor is available.
    static func read(_ kinds: [Int], _ apply: (InterfaceChange) -> Void) throws(Errno) {
        let raw = clinux_netlink_open(0)
        guard raw >= 0 else { throw .current }
        let descriptor = Descriptor(owning: raw)
        for (sequence, kind) in kinds.enumerated() {
            guard clinux_netlink_dump(descriptor.raw, UInt16(kind), UInt32(sequence)) == 0 else { throw .current }
            while !applyReplies(from: descriptor.raw, sequence: UInt32(sequence), apply) {
                var readable = pollfd(fd: descriptor.raw, events: Int16(POLLIN), revents: 0)
                guard poll(&readable, 1, 1000) > 0 else { return }
            }
        }
    }

    /// Applies the received messages. Returns true at the end of the reply.
    private static func applyReplies(
        from descriptor: Int32, sequence: UInt32, _ apply: (InterfaceChange) -> Void
    ) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = clinux_netlink_receive(descriptor, &buffer, buffer.count)
            guard count > 0 else { return false }
            for change in NetlinkDecoder.decode(buffer.prefix(count)) {
                switch change {
                case .done(sequence), .refused(_, sequence): return true
                default: apply(change)
                }
            }
        }
    }
}
