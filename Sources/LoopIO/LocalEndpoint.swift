import CLinux

/// The local address and the interface at which a datagram arrived. A reply is sent from there.
package struct LocalEndpoint: Hashable, Sendable {
    /// The local address; nil lets the kernel choose.
    package let address: IPAddress?
    /// The interface index; 0 lets the kernel choose.
    package let interface: UInt32

    /// Returns the C structure for sending a datagram to an address of the given family.
    ///
    /// If the families differ, which is a caller's bug, the kernel chooses the address.
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

extension LocalEndpoint {
    init(_ local: clinux_local) {
        let bytes = withUnsafeBytes(of: local.address) { Array($0.prefix(Int(local.size))) }
        self.init(address: IPAddress(bytes: bytes, scope: local.interface), interface: local.interface)
    }
}
