import HandoffControl
import HandoffModel

/// What may keep devices from finding and reaching each other.
extension Doctor {
    static func discovery(_ status: ControlStatus, _ machine: MachineFacts) -> DoctorCheck {
        let name = status.discovery
        let refusesOthers = avahiRefusesOthers(machine.avahiConfiguration.content)
        if name == "static" {
            return DoctorCheck(
                "discovery", .warning, "devices are found at fixed addresses only, as configured",
                remedy: "add them with: handoffctl peer add HOST:PORT; or set discovery = auto in handoffd.conf")
        }
        guard name != "none" || !status.holds.contains(where: { $0.author == .network }) else {
            return DoctorCheck(
                "discovery", .warning, "devices are looked for in known networks alone, and this one is not known",
                remedy: "handoffctl network trust, if you trust it")
        }
        let impaired = "impaired: "
        if status.discoveryState.hasPrefix(impaired) {
            let remedy = name == "avahi" ? avahiRemedy(machine.avahiConfiguration.content) : "see the daemon's log"
            return DoctorCheck(
                "discovery", .problem, String(status.discoveryState.dropFirst(impaired.count)), remedy: remedy)
        }
        guard status.discoveryState == "running" else {
            let remedy =
                name == "avahi"
                ? "sudo systemctl enable --now avahi-daemon; or set discovery = auto in handoffd.conf"
                : machine.avahiRuns && refusesOthers
                    ? "Avahi runs, and lets no other program use multicast DNS: set disallow-other-stacks=no in "
                        + "/etc/avahi/avahi-daemon.conf, or discovery = avahi in handoffd.conf"
                    : "set discovery = auto in handoffd.conf; the daemon's log says more"
            return DoctorCheck(
                "discovery", status.discoveryState == "starting" ? .warning : .problem,
                "devices are not found by themselves: \(name) is \(status.discoveryState)", remedy: remedy)
        }
        if name == "embedded", machine.avahiRuns, refusesOthers {
            return DoctorCheck(
                "discovery", .problem,
                "Avahi runs, and lets no other program use multicast DNS (disallow-other-stacks=yes), so that the responder "
                    + "inside handoffd hears nothing",
                remedy: "set discovery = auto in handoffd.conf; or disallow-other-stacks=no in "
                    + "/etc/avahi/avahi-daemon.conf")
        }
        return DoctorCheck("discovery", .ok, "devices are found by multicast DNS (\(name))")
    }

    /// What keeps every device from being found or reached here: no network, or another one than is configured.
    static func network(_ diagnosis: ControlDiagnosis?) -> [DoctorCheck] {
        guard let diagnosis else { return [] }
        let missing = diagnosis.missingInterfaces ?? []
        let isOut = diagnosis.network == false
        let names = missing.joined(separator: ", ")
        let rename = "ip -brief link shows what there is; set interface in handoffd.conf, or leave it out"
        if let address = diagnosis.missingAddress {
            return [
                DoctorCheck(
                    "network", .problem,
                    "no network: this device listens on \(VisibleText.escape(address)) alone, which this machine does not have now",
                    remedy: "ip -brief address shows what there is; set address in handoffd.conf, or leave it out")
            ]
        }
        switch (missing.isEmpty, isOut) {
        case (true, false): return []
        case (true, true):
            return [
                DoctorCheck(
                    "network", .problem,
                    "no network: no interface on which this device may be found is up and has an address",
                    remedy: "join a network; ip -brief address shows what there is")
            ]
        case (false, true):
            return [
                DoctorCheck(
                    "network", .problem,
                    "no network: this machine has no interface of the configured name: \(names)", remedy: rename)
            ]
        case (false, false):
            return [
                DoctorCheck(
                    "network", .warning, "this machine has no interface of a configured name: \(names)",
                    remedy: rename)
            ]
        }
    }

    /// The change that makes Avahi announce this device or replaces Avahi.
    private static func avahiRemedy(_ text: String?) -> String {
        let restrictions = [
            "disable-user-service-publishing", "disable-publishing", "allow-interfaces", "deny-interfaces",
            "objects-per-client-max", "entries-per-entry-group-max",
        ]
        let found = ConfigurationText.lines(text ?? "").compactMap { line in
            restrictions.first { line.filter { !$0.isWhitespace }.hasPrefix($0 + "=") }
        }
        let auto = "set discovery = auto in handoffd.conf"
        guard !found.isEmpty else { return auto }
        let names = found.joined(separator: ", ")
        return "\(auto); or change \(names) in /etc/avahi/avahi-daemon.conf and restart avahi-daemon"
    }

    /// Whether a line of the configuration says that nobody else may bind port 5353.
    private static func avahiRefusesOthers(_ text: String?) -> Bool {
        guard let text else { return false }
        return ConfigurationText.lines(text).contains { line in
            let bare = line.filter { !$0.isWhitespace }
            return bare == "disallow-other-stacks=yes" || bare == "disallow-other-stacks=true"
        }
    }

    static func listening(_ status: ControlStatus, _ machine: MachineFacts) -> [DoctorCheck] {
        let isOpen = [machine.tcp, machine.udp].map { SocketTable.listens(on: status.port, in: $0) }
        let names = zip(["TCP", "UDP"], isOpen).compactMap { $1 == false ? $0 : nil }
        guard names.isEmpty else {
            return [
                DoctorCheck(
                    "port", .problem, "nothing listens on port \(status.port) for \(names.joined(separator: " and "))",
                    remedy: "systemctl --user restart handoffd")
            ]
        }
        guard !isOpen.contains(nil) else { return [] }
        let note =
            FirewallText.usualPorts.contains(status.port)
            ? "" : "; the profiles for firewalls do not have it, but 24863 to 24872"
        // A profile that lets the usual ports in helps only while there is a firewall.
        let hasFirewall = FirewallText.ufwIsOn(machine.ufw.content) || machine.firewalldRuns
        return [
            DoctorCheck(
                "port", note.isEmpty || !hasFirewall ? .ok : .warning,
                "the daemon listens on port \(status.port), TCP and UDP\(note)",
                remedy: note.isEmpty || !hasFirewall
                    ? nil : "set port = 24863 in handoffd.conf, then: systemctl --user restart handoffd")
        ]
    }

    static func firewall(_ status: ControlStatus, _ machine: MachineFacts) -> DoctorCheck {
        let port = status.port
        let isUsual = FirewallText.usualPorts.contains(port)
        // A pairing window has a port of its own: the first one of the usual ports that is free.
        let pairingPort = FirewallText.usualPorts.first { $0 != port }
        let asked = isUsual ? [port] + (pairingPort.map { [$0] } ?? []) : [port]
        let range = "\(FirewallText.usualPorts.lowerBound)-\(FirewallText.usualPorts.upperBound)"
        let all = isUsual ? range : "\(port), \(range)"
        if FirewallText.ufwIsOn(machine.ufw.content) {
            let isOpen = every(asked) { port in
                machine.ufwRules.content.flatMap {
                    FirewallText.ufwAllows(port, $0, defaults: machine.ufwDefaults.content ?? "")
                }
            }
            let remedy = "sudo ufw allow Handoff" + (isUsual ? "" : "; sudo ufw allow \(port)")
            return firewall("ufw", lets: isOpen, asked, remedy, look: "sudo ufw status")
        }
        if machine.firewalldRuns {
            let zone = FirewalldZone.deciding(on: asked, machine)
            let what = "--add-service=handoff" + (isUsual ? "" : " --add-port=\(port)/tcp --add-port=\(port)/udp")
            return firewall(
                zone.title, lets: zone.isOpen, asked,
                "sudo firewall-cmd --permanent\(zone.option) \(what) && sudo firewall-cmd --reload",
                look: "sudo firewall-cmd\(zone.option) --list-all")
        }
        let rule = "meta l4proto { tcp, udp } th dport { 5353, \(all) } accept"
        if case .text(let rules) = machine.liveRules, rules.contains("hook input") {
            return firewall(
                "the kernel (nftables)", lets: every(asked) { NftablesText.allows($0, rules) }, asked,
                "put '\(rule)' before the rule that drops, in the input chain and in the file that it is loaded from",
                look: "sudo nft list ruleset")
        }
        if machine.nftables.exists {
            let isOpen = every(asked) { port in
                machine.nftables.content.flatMap { NftablesText.allows(port, $0) }
            }
            return firewall(
                "nftables", lets: isOpen, asked,
                "put '\(rule)' into the input chain of /etc/nftables.conf, then: sudo systemctl reload nftables",
                look: "sudo nft list ruleset")
        }
        if machine.iptables.exists {
            let ports = all.replacing("-", with: ":").replacing(" ", with: "")
            return firewall(
                "iptables", lets: nil, asked,
                "sudo iptables -I INPUT -p tcp -m multiport --dports \(ports) -j ACCEPT; "
                    + "sudo iptables -I INPUT -p udp -m multiport --dports 5353,\(ports) -j ACCEPT",
                look: "sudo iptables -S INPUT")
        }
        if case .hidden(let why) = machine.liveRules {
            return DoctorCheck(
                "firewall", .warning,
                "neither ufw nor firewalld is on and no rules are saved, but the rules in the kernel were not read: \(why)",
                remedy: "see whether a rule drops what arrives, with: sudo nft list ruleset; if one does: \(rule)")
        }
        return DoctorCheck(
            "firewall", .ok,
            "none was found: neither ufw nor firewalld is on, and no rules are saved for nftables or iptables")
    }

    /// Whether all ports are open: false where one is not, nil where that cannot be told of one.
    private static func every(_ ports: [UInt16], _ isOpen: (UInt16) -> Bool?) -> Bool? {
        let answers = ports.map(isOpen)
        return answers.contains(false) ? false : answers.contains(nil) ? nil : true
    }

    /// - Parameters:
    ///   - isOpen: whether the firewall lets in what comes; nil when this user cannot tell.
    ///   - ports: the daemon's, and behind it the one of a pairing window where that is known.
    ///   - remedy: what makes it do so.
    ///   - look: the command by which the administrator sees it.
    private static func firewall(
        _ name: String, lets isOpen: Bool?, _ ports: [UInt16], _ remedy: String, look: String
    ) -> DoctorCheck {
        let (port, pairingPort) = (ports[0], ports.dropFirst().first)
        let ports =
            "port \(port)" + (pairingPort.map { " and, for pairing, port \($0)" } ?? "")
            + " (TCP and UDP), and multicast DNS (UDP 5353)"
        switch isOpen {
        case true?: return DoctorCheck("firewall", .ok, "\(name) lets in \(ports)")
        case false?: return DoctorCheck("firewall", .problem, "\(name) does not let in all of \(ports)", remedy: remedy)
        case nil:
            return DoctorCheck(
                "firewall", .warning, "\(name) is on; cannot tell whether it lets in \(ports)",
                remedy: "see with: \(look); if it does not: \(remedy)")
        }
    }

    /// The largest packets that every device must be able to send for its record to be found: IPv6 needs them as well (RFC 8200,
    /// section 5). Avahi sends a record in one packet, or not at all.
    static let leastPacket = 1280

    /// Interfaces whose packets are too small for the record by which this device is found.
    static func packets(_ status: ControlStatus, _ machine: MachineFacts) -> [DoctorCheck] {
        guard status.discovery != "static" else { return [] }
        return machine.packetSizes.filter { $0.value < leastPacket }.sorted { $0.key < $1.key }.map { name, size in
            DoctorCheck(
                "network", .warning,
                "packets of interface \(VisibleText.escape(name)) have at most \(size) bytes (MTU): the record by which "
                    + "other devices find this one needs up to \(leastPacket), so they may not find it there",
                remedy:
                    "sudo ip link set \(VisibleText.escape(name)) mtu \(leastPacket), or a larger one; where the network "
                    + "does not carry it, on both devices: handoffctl peer add HOST:PORT")
        }
    }

    static func members(_ status: ControlStatus, _ diagnosis: ControlDiagnosis?) -> [DoctorCheck] {
        guard status.account != nil, let diagnosis else { return [] }
        guard !diagnosis.members.isEmpty else {
            return [
                DoctorCheck(
                    "devices", .warning, "this is the only device of its account",
                    remedy: "let another one in with: handoffctl pair, and there: handoffctl join")
            ]
        }
        return
            (Obstacle.silence(status).map { [DoctorCheck("devices", .warning, $0.message, remedy: $0.remedy)] } ?? [])
            + diagnosis.members.map(member)
    }

    static func member(_ member: ControlDiagnosis.Member) -> DoctorCheck {
        let name = DeviceText.label(member.name, member.device)
        let remedy =
            "see whether it is on and in the same network; where multicast does not reach: handoffctl peer add HOST:PORT"
        guard member.online else {
            let heard = member.heard.map { seconds in
                "was heard \(RelativeAge.text(seconds: seconds))" + (seconds < 60 ? "" : " ago")
            }
            let trouble = member.trouble.map { "; the last connection: \($0)" } ?? ""
            return DoctorCheck(
                "devices", .warning, "\(name) is not there: it \(heard ?? "was not heard since the start")\(trouble)",
                remedy: remedy)
        }
        if let trouble = member.trouble {
            return DoctorCheck(
                "devices", .warning,
                "announcements of \(name) arrive, but the last connection to it failed: \(trouble)",
                remedy: "a firewall on one of the two devices probably blocks TCP: run handoffctl doctor there as well")
        }
        return DoctorCheck("devices", .ok, "\(name) is there")
    }
}
