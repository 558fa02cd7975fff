package import HandoffControl

/// What the networks are called that this machine is in: the results of `GetNetworkNames`.
package struct NetworkNames: ControlValue {
    /// One of them.
    package struct Network: ControlValue {
        /// The interface over which it is reached.
        package var interface: String
        /// What NetworkManager calls the connection; of wireless networks often what they call themselves.
        package var name: String

        package init(interface: String, name: String) {
            self.interface = interface
            self.name = name
        }
    }

    /// The most networks.
    private static let most = 256
    /// The longest text, in bytes.
    private static let maxText = 256

    /// All that are known.
    package var networks: [Network]

    package init(networks: [Network]) {
        self.networks = networks
    }

    /// The names by interface; of several for one the first.
    package var byInterface: [String: String] {
        Dictionary(networks.map { ($0.interface, $0.name) }) { first, _ in first }
    }

    /// There are not too many, and nothing is too long.
    package func check() throws(VarlinkError) {
        guard networks.count <= Self.most else { throw .invalidParameter("networks") }
        for network in networks {
            guard network.interface.utf8.count <= Self.maxText, network.name.utf8.count <= Self.maxText else {
                throw .invalidParameter("networks")
            }
        }
    }
}
