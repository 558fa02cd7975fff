import HandoffControl
import HandoffModel

/// Checks of what devices need to find and reach each other.
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
                "discovery", .warning, "devices are looked for only in known networks, and this network is not known",
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
                    ? "Avahi does not let other programs use multicast DNS: set disallow-other-stacks=no in "
                        + "/etc/avahi/avahi-daemon.conf, or discovery = avahi in handoffd.conf"
                    : "set discovery = auto in handoffd.conf; see the daemon's log"
            return DoctorCheck(
                "discovery", status.discoveryState == "starting" ? .warning : .problem,
                "devices are not found automatically: \(name) is \(status.discoveryState)", remedy: remedy)
        }
        if name == "embedded", machine.avahiRuns, refusesOthers {
            return DoctorCheck(
                "discovery", .problem,
                "Avahi does not let other programs use multicast DNS (disallow-other-stacks=yes), so the responder in "
                    + "handoffd receives nothing",
                remedy: "set discovery = auto in handoffd.conf; or disallow-other-stacks=no in "
                    + "/etc/avahi/avahi-daemon.conf")
        }
        return DoctorCheck("discovery", .ok, "devices are found by multicast DNS (\(name))")
    }

    /// Reports what prevents every device from being found or reached: no network, or not the
    /// configured one.
    static func network(_ diagnosis: ControlDiagnosis?) -> [DoctorCheck] {
        guard let diagnosis else { return [] }
        let missing = diagnosis.missingInterfaces ?? []
        let isOut = diagnosis.network == false
        let names = missing.joined(separator: ", ")
        let rename = "list interfaces with ip -brief link; correct or remove interface in handoffd.conf"
        if let address = diagnosis.missingAddress {
            return [
                DoctorCheck(
                    "network", .problem,
                    "no network: this device listens on \(VisibleText.escape(address)) only, "
                        + "which this machine does not have now",
                    remedy: "list addresses with ip -brief address; correct or remove address in handoffd.conf")
            ]
        }
        switch (missing.isEmpty, isOut) {
        case (true, false): return []
        case (true, true):
            return [
                DoctorCheck(
                    "network", .problem,
                    "no network: no interface that this device may use is up and has an address",
                    remedy: "join a network; list addresses with ip -brief address")
            ]
        case (false, true):
            return [
                DoctorCheck(
                    "network", .problem,
                    "no network: this machine has no interface with the configured name: \(names)", remedy: rename)
            ]
        case (false, false):
            return [
                DoctorCheck(
                    "network", .warning, "this machine has no interface with a configured name: \(names)",
                    remedy: rename)
            ]
        }
    }

    /// Returns the change that lets Avahi announce this device, or that replaces Avahi.
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

    /// Returns true if the configuration prevents other programs from binding port 5353.
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
            defaultPorts.contains(status.port)
            ? "" : "; the firewall profiles cover only 24863 to 24872"
        // A profile that opens the default ports matters only with a firewall.
        let hasFirewall = machine.firewall == .ufw || machine.firewall == .firewalld
        return [
            DoctorCheck(
                "port", note.isEmpty || !hasFirewall ? .ok : .warning,
                "the daemon listens on port \(status.port), TCP and UDP\(note)",
                remedy: note.isEmpty || !hasFirewall
                    ? nil : "set port = 24863 in handoffd.conf, then: systemctl --user restart handoffd")
        ]
    }

    /// The minimum MTU for the service record of a device, in bytes. IPv6 requires it as well (RFC
    /// 8200, section 5). Avahi sends a record in one packet or not at all.
    static let minPacketSize = 1280

    /// Reports interfaces whose MTU is too small for the record by which this device is found.
    static func packets(_ status: ControlStatus, _ machine: MachineFacts) -> [DoctorCheck] {
        guard status.discovery != "static" else { return [] }
        return machine.packetSizes.filter { $0.value < minPacketSize }.sorted { $0.key < $1.key }.map { name, size in
            DoctorCheck(
                "network", .warning,
                "the MTU of interface \(VisibleText.escape(name)) is \(size) bytes: the record by which other devices "
                    + "find this one needs up to \(minPacketSize), so they may not find it there",
                remedy:
                    "sudo ip link set \(VisibleText.escape(name)) mtu \(minPacketSize), or larger; if the network does "
                    + "not support that, on both devices: handoffctl peer add HOST:PORT")
        }
    }

    static func members(_ status: ControlStatus, _ diagnosis: ControlDiagnosis?) -> [DoctorCheck] {
        guard status.account != nil, let diagnosis else { return [] }
        guard !diagnosis.members.isEmpty else {
            return [
                DoctorCheck(
                    "devices", .warning, "this is the only device in its account",
                    remedy: "add another device with: handoffctl pair, and there: handoffctl join")
            ]
        }
        return
            (Obstacle.unanswered(status).map { [DoctorCheck("devices", .warning, $0.message, remedy: $0.remedy)] } ?? [])
            + diagnosis.members.map(member)
    }

    static func member(_ member: ControlDiagnosis.Member) -> DoctorCheck {
        let name = DeviceText.label(member.name, member.device)
        let remedy =
            "check that it is on and in the same network; if multicast does not reach it: handoffctl peer add HOST:PORT"
        guard member.online else {
            let lastSeen = member.heard.map { seconds in
                "was last seen \(RelativeAge.text(seconds: seconds))" + (seconds < 60 ? "" : " ago")
            }
            let trouble = member.trouble.map { "; the last connection failed: \($0)" } ?? ""
            return DoctorCheck(
                "devices", .warning,
                "\(name) is offline: it \(lastSeen ?? "has not been seen since the daemon started")\(trouble)",
                remedy: remedy)
        }
        if let trouble = member.trouble {
            return DoctorCheck(
                "devices", .warning,
                "announcements of \(name) arrive, but the last connection to it failed: \(trouble)",
                remedy: "a firewall on one of the two devices probably blocks TCP: run handoffctl doctor there as well")
        }
        return DoctorCheck("devices", .ok, "\(name) is online")
    }
}
