package import LoopIO

/// One address of this machine.
package struct LocalAddress: Hashable, Sendable {
    /// The index of its interface.
    package let interface: UInt32
    /// The address, without scope.
    package let address: IPAddress
    /// How many leading bits the hosts on its link share.
    package let prefixLength: Int

    package init(interface: UInt32, address: IPAddress, prefixLength: Int) {
        self.interface = interface
        self.address = address
        self.prefixLength = prefixLength
    }
}
