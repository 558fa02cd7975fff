/// `Network`: a network that this machine is connected to, or a known one.
package struct ControlNetwork: ControlValue {
    /// The link-layer address of its gateway, such as `52:54:00:12:34:56`, or nil if unknown.
    package var id: String?
    /// The interface, or nil if this machine is not connected to the network.
    package var interface: String?
    /// The gateway's address, or nil if this machine is not connected to the network.
    package var gateway: String?
    /// The user's name for it; nil or empty without a name.
    package var name: String?
    /// The system's name of the connection to it, which may be untrusted text. Nil if unknown, or
    /// if this machine is not connected to the network.
    package var connection: String?
    /// True if the user has marked it as known.
    package var known: Bool

    package init(
        id: String?, interface: String?, gateway: String?, name: String?, connection: String? = nil, known: Bool
    ) {
        self.id = id
        self.interface = interface
        self.gateway = gateway
        self.name = name
        self.connection = connection
        self.known = known
    }
}

/// The results of `ListNetworks`, `TrustNetwork` and `ForgetNetwork`.
package struct ControlNetworks: ControlValue {
    /// True if this device is discoverable in known networks only.
    package var knownOnly: Bool
    /// True if it is discoverable in no network now.
    package var silent: Bool
    /// The networks that this machine is connected to, then the other known ones.
    package var networks: [ControlNetwork]

    package init(knownOnly: Bool, silent: Bool, networks: [ControlNetwork]) {
        self.knownOnly = knownOnly
        self.silent = silent
        self.networks = networks
    }
}
