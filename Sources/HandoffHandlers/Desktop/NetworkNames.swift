package import HandoffControl

/// The names of the networks that this machine is connected to: the results of `GetNetworkNames`.
package struct NetworkNames: ControlValue {
    /// A connected network.
    package struct Network: ControlValue {
        /// The network interface.
        var interface: String
        /// The NetworkManager connection name; for wireless networks often the SSID.
        package var name: String

        package init(interface: String, name: String) {
            self.interface = interface
            self.name = name
        }
    }

    /// The maximum number of networks.
    private static let maxNetworks = 256
    /// The maximum length of a text, in bytes.
    private static let maxText = 256

    /// All known networks.
    var networks: [Network]

    package init(networks: [Network]) {
        self.networks = networks
    }

    /// The names by interface. If an interface has several, the first one.
    package var byInterface: [String: String] {
        Dictionary(networks.map { ($0.interface, $0.name) }) { first, _ in first }
    }

    /// Checks the number of networks and the length of the texts.
    package func check() throws(VarlinkError) {
        guard networks.count <= Self.maxNetworks else { throw .invalidParameter("networks") }
        for network in networks {
            guard network.interface.utf8.count <= Self.maxText, network.name.utf8.count <= Self.maxText else {
                throw .invalidParameter("networks")
            }
        }
    }
}
