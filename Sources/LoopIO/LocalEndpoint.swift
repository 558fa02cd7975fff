import CLinux

/// Where a datagram arrived: an address of this machine and the interface. An answer leaves from there.
package struct LocalEndpoint: Hashable, Sendable {
    /// Our address; nil lets the kernel choose.
    package let address: IPAddress?
    /// The interface's index; 0 lets the kernel choose.
    package let interface: UInt32

    package init(address: IPAddress?, interface: UInt32) {
        self.address = address
        self.interface = interface
    }

    init(_ local: clinux_local) {
        let bytes = withUnsafeBytes(of: local.address) { Array($0.prefix(Int(local.size))) }
        self.init(address: IPAddress(bytes: bytes, scope: local.interface), interface: local.interface)
    }

    /// The C form, for a datagram to an address of the given family.
    ///
    /// Both families can only be mixed by a caller's mistake; the kernel then chooses.
    func local(forIPv4 isIPv4: Bool) -> clinux_local {
        var local = clinux_local()
        local.interface = interface
        local.size = isIPv4 ? 4 : 16
        if let address, address.isIPv4 == isIPv4 {
            withUnsafeMutableBytes(of: &local.address) { $0.copyBytes(from: address.bytes) }
        }
        return local
    }
}
