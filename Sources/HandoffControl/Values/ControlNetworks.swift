/// `Network`: a network that this machine is in, or that is known.
package struct ControlNetwork: ControlValue {
    /// The link-layer address of its gateway, as `52:54:00:12:34:56`; nil while that is not known.
    package var id: String?
    /// The interface; nil of one that this machine is not in.
    package var interface: String?
    /// The gateway's address; nil of one that this machine is not in.
    package var gateway: String?
    /// What the user calls it; nil or empty when there is no name.
    package var name: String?
    /// What the system calls the connection to it, which an outsider may have named; nil where nobody knows, and of one that this
    /// machine is not in.
    package var connection: String?
    /// Whether the user has said that it is known.
    package var known: Bool

    /// A network with these properties.
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
    /// Whether this device is found in known networks alone.
    package var knownOnly: Bool
    /// Whether it is found nowhere now.
    package var silent: Bool
    /// Those that this machine is in, then the others that are known.
    package var networks: [ControlNetwork]

    /// Results with these properties.
    package init(knownOnly: Bool, silent: Bool, networks: [ControlNetwork]) {
        self.knownOnly = knownOnly
        self.silent = silent
        self.networks = networks
    }
}
