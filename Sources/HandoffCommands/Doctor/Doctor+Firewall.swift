import HandoffControl

/// A program that filters incoming packets.
enum Firewall: String, Sendable {
    case ufw, firewalld, nftables, iptables
}

extension Doctor {
    /// The default ports, of which the daemon uses one, and which the firewall profiles cover.
    static let defaultPorts: ClosedRange<UInt16> = 24_863...24_872

    /// Reports an active firewall, with the command that allows the ports. Its rules are not
    /// evaluated: they depend on their order, on interfaces and on other chains.
    static func firewall(_ status: ControlStatus, _ firewall: Firewall?) -> DoctorCheck {
        guard let firewall else {
            return DoctorCheck(
                "firewall", .ok,
                "no firewall found: neither ufw nor firewalld is active, and no nftables or iptables rules are saved")
        }
        guard status.peers.isEmpty else {
            return DoctorCheck("firewall", .ok, "\(firewall.rawValue) is active, and other devices are online")
        }
        return DoctorCheck(
            "firewall", .warning,
            "\(firewall.rawValue) is active, and may block port \(status.port) and, for pairing, ports 24863 to 24872 "
                + "(TCP and UDP), and multicast DNS (UDP 5353)",
            remedy: "to allow them: \(remedy(firewall, port: status.port))")
    }

    /// Returns the change that allows the daemon's port, the default ports for pairing, and
    /// multicast DNS.
    private static func remedy(_ firewall: Firewall, port: UInt16) -> String {
        let isUsual = defaultPorts.contains(port)
        let (first, last) = (defaultPorts.lowerBound, defaultPorts.upperBound)
        switch firewall {
        case .ufw: return "sudo ufw allow Handoff" + (isUsual ? "" : "; sudo ufw allow \(port)")
        case .firewalld:
            let more = isUsual ? "" : " --add-port=\(port)/tcp --add-port=\(port)/udp"
            return "sudo firewall-cmd --permanent --add-service=handoff\(more) && sudo firewall-cmd --reload"
        case .nftables:
            let ports = (isUsual ? "" : "\(port), ") + "\(first)-\(last)"
            return "add 'meta l4proto { tcp, udp } th dport { 5353, \(ports) } accept' to the input chain of "
                + "/etc/nftables.conf, then: sudo systemctl reload nftables"
        case .iptables:
            let ports = (isUsual ? "" : "\(port),") + "\(first):\(last)"
            return "sudo iptables -I INPUT -p tcp -m multiport --dports \(ports) -j ACCEPT; "
                + "sudo iptables -I INPUT -p udp -m multiport --dports 5353,\(ports) -j ACCEPT"
        }
    }
}
