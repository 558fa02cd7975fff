import HandoffCommands
import HandoffControl
import HandoffModel
import HandoffTestSupport
import HandoffTransfer
import Testing

/// Tests the checks of `doctor` for given facts.
@Suite struct DoctorTests {
    /// The facts of a machine and a daemon without problems.
    private static var well: DoctorFacts {
        var machine = MachineFacts()
        machine.tcp = [.text(table(state: "0A"))]
        machine.udp = [.text(table(state: "07"))]
        machine.clockIsSynchronized = true
        machine.namespaceLimit = .text("15000\n")
        let status = ControlStatus(
            daemon: "handoffd/\(ProgramVersion.number)", device: Sample.device(0x3F), name: "desk", kind: .desktop,
            account: Sample.account, epoch: 1, discovery: "avahi", discoveryState: "running", port: 24_863, peers: [],
            published: 0, offered: 0, tickets: [], warnings: [])
        let app = ControlApp(
            id: "org.example.Editor", name: "Editor", source: .desktop, file: nil, types: ["com.example.a"], team: nil,
            domains: [], running: false, verified: nil, enabled: true)
        return DoctorFacts(
            status: status,
            diagnosis: ControlDiagnosis(
                stateFolder: "/home/a/.local/state/handoff", stateMode: 0o700, openFiles: 16_384,
                lockedMemory: 8_388_608, isIsolated: false,
                members: [ControlDiagnosis.Member(device: Sample.device(0x1A), name: "laptop", online: true, heard: 1)]),
            apps: [app], machine: machine)
    }

    /// Returns a socket table with a socket in this state on port 24863.
    private static func table(state: String) -> String {
        """
          sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid
           0: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0
           1: 00000000:611F 00000000:0000 \(state) 00000000:00000000 00:00000000 00000000  1000
        """
    }

    private func found(_ name: String, _ change: (inout DoctorFacts) -> Void) -> [DoctorCheck] {
        var facts = Self.well
        change(&facts)
        return Doctor.checks(facts).filter { $0.name == name }
    }

    private func only(_ name: String, _ change: (inout DoctorFacts) -> Void) throws -> DoctorCheck {
        let checks = found(name, change)
        #expect(checks.count == 1)
        return try #require(checks.first)
    }

    @Test func `suppressed notifications are a warning with a remedy`() throws {
        let dismissed = ControlNotifications.Offer(
            device: Sample.device(0x1A), activity: Sample.activityID(0xAB), outcome: .dismissed)
        let suppressions: [(ControlNotifications, String)] = [
            (ControlNotifications(state: .off), "systemctl --user reload handoffd"),
            (ControlNotifications(state: .away), "unlock the screen"),
            (ControlNotifications(state: .unavailable), "dunst"),
            (ControlNotifications(state: .on, offers: [dismissed]), "handoffctl continue abababa"),
        ]
        for (notifications, remedy) in suppressions {
            let check = try only("notices") { $0.diagnosis?.notifications = notifications }
            #expect(check.state == .warning && check.remedy?.contains(remedy) == true, "\(check)")
        }
        let muted = try only("notices") {
            $0.diagnosis?.notifications = ControlNotifications(state: .on)
            $0.apps?[0].notified = false
        }
        #expect(muted.state == .warning && muted.remedy == "handoffctl app unmute org.example.Editor")
        for state in [ControlNotifications.State.on, .unknown] {
            #expect(
                try only("notices") { $0.diagnosis?.notifications = ControlNotifications(state: state) }.state == .ok)
        }
    }

    @Test func `the removal of this device is reported once, with a remedy`() throws {
        let words = try #require(Standing.removed.problem)
        let remove: (inout DoctorFacts) -> Void = {
            $0.status?.standing = .removed
            $0.status?.warnings = [words, "something else"]
        }
        let check = try only("account", remove)
        #expect(check.state == .problem)
        #expect(check.message == words)
        #expect(check.remedy?.hasPrefix("handoffctl join,") == true)
        #expect(found("warning", remove).map(\.message) == ["something else"])
    }

    @Test func `without problems every check is ok`() {
        let checks = Doctor.checks(Self.well)
        #expect(checks.allSatisfy { $0.state == .ok && $0.remedy == nil })
        let names = [
            "daemon", "account", "switches", "discovery", "port", "firewall", "clock", "apps", "sandbox", "files",
            "devices", "state",
        ]
        #expect(checks.map(\.name) == names)
    }

    @Test func `browsers are checked if the extension is installed`() throws {
        #expect(found("browsers") { $0.machine.sandboxedBrowsers = ["firefox (Snap)"] }.isEmpty)
        let none = try only("browsers") { $0.machine.hasBrowserExtension = true }
        #expect(none.state == .warning)
        let plain = try only("browsers") {
            $0.machine.hasBrowserExtension = true
            $0.machine.browsers = ["firefox-esr"]
            $0.machine.sandboxedBrowsers = ["chromium (Flatpak)"]
        }
        #expect(plain.state == .ok)
        let sandboxed = try only("browsers") {
            $0.machine.hasBrowserExtension = true
            $0.machine.sandboxedBrowsers = ["firefox (Snap)", "chromium (Flatpak)"]
        }
        #expect(sandboxed.state == .warning)
        #expect(sandboxed.message.hasSuffix("firefox (Snap), chromium (Flatpak)"))
        #expect(sandboxed.remedy?.contains("snap.firefox yes") == true)
    }

    @Test func `invalid page exclusions are a problem, with file and line`() throws {
        let check = try only("browsers") {
            $0.machine.pageExclusionProblems = ["/home/a/.config/handoff/browser.conf, line 3: 'x y' is not a site"]
        }
        #expect(check.state == .problem && check.message.contains("/home/a/.config/handoff/browser.conf, line 3"))
    }

    @Test func `without a daemon the machine is still checked`() {
        var facts = Self.well
        facts.status = nil
        facts.unreachable = "cannot reach the daemon at /run/x: no such file"
        let checks = Doctor.checks(facts)
        #expect(checks.first?.state == .problem && checks.first?.message == facts.unreachable)
        #expect(checks.map(\.name) == ["daemon", "clock", "sandbox"])
        #expect(checks.first?.remedy?.contains("systemctl --user start handoffd") == true)
        facts.machine.namespaceLimit = .text("0\n")
        let sandbox = Doctor.checks(facts).last
        #expect(sandbox?.state == .problem && sandbox?.remedy?.contains("50-sandbox.conf") == true)
    }

    @Test func `a daemon that stops answering is a problem`() throws {
        let check = try only("daemon") { facts in
            facts.interruption = .silence
            facts.diagnosis = nil
            facts.apps = nil
        }
        #expect(check.state == .problem && check.message.contains("did not answer"))
    }

    @Test func `a daemon of another version is reported`() throws {
        #expect(try only("daemon") { $0.status?.daemon = "handoffd/0.0.1" }.state == .warning)
    }

    @Test func `no account is a problem`() throws {
        let check = try only("account") { $0.status?.account = nil }
        #expect(check.state == .problem && check.remedy?.contains("handoffctl join") == true)
    }

    @Test func `each switch that is off is reported`() {
        let checks = found("switches") { facts in
            facts.status?.advertising = false
            facts.status?.receiving = false
            facts.status?.holds = [
                ControlRestriction(direction: .advertise, author: .policy, message: "forbidden"),
                ControlRestriction(direction: .receive, author: .user, message: "switched off"),
                ControlRestriction(direction: .advertise, author: .session, message: "locked"),
                ControlRestriction(
                    direction: .receive, author: .user, device: Sample.device(0x1A), message: "for one"),
            ]
        }
        #expect(checks.map(\.state) == [.problem, .problem, .warning, .warning])
        #expect(checks[1].remedy == "handoffctl receive on")
        #expect(checks[3].remedy == "handoffctl receive on --device 1a1a1a1")
        #expect(checks[0].remedy?.contains("/etc/handoff/policy.d") == true)
    }

    @Test func `an exclusive Avahi is a problem for the embedded responder`() throws {
        let check = try only("discovery") { facts in
            facts.status?.discovery = "embedded"
            facts.machine.avahiRuns = true
            facts.machine.avahiConfiguration = .text("[server]\n#x\ndisallow-other-stacks = yes\n")
        }
        #expect(check.state == .problem && check.message.contains("disallow-other-stacks"))
        for text in ["#disallow-other-stacks=yes", "disallow-other-stacks=no", ""] {
            let check = try only("discovery") { facts in
                facts.status?.discovery = "embedded"
                facts.machine.avahiRuns = true
                facts.machine.avahiConfiguration = .text(text)
            }
            #expect(check.state == .ok)
        }
    }

    @Test func `discovery that is not running is a problem`() throws {
        let check = try only("discovery") { $0.status?.discoveryState = "unavailable: the Avahi daemon does not run" }
        #expect(check.state == .problem && check.remedy?.contains("avahi-daemon") == true)
        #expect(try only("discovery") { $0.status?.discovery = "static" }.state == .warning)
    }

    @Test func `an Avahi that does not announce the device is a problem, with the setting that is the cause`() throws {
        let cause = "this device is not announced: avahi-daemon returned 'not permitted'"
        let lines = "[publish]\n#disable-publishing=no\ndisable-user-service-publishing = yes\n"
        let check = try only("discovery") { facts in
            facts.status?.discoveryState = "impaired: \(cause)"
            facts.machine.avahiConfiguration = .text(lines)
        }
        #expect(check.state == .problem && check.message == cause)
        #expect(
            check.remedy
                == "set discovery = auto in handoffd.conf; or change disable-user-service-publishing in "
                + "/etc/avahi/avahi-daemon.conf and restart avahi-daemon")
    }

    @Test func `without a network discovery is not reported as ok`() throws {
        let check = try only("network") { $0.diagnosis?.network = false }
        #expect(check.state == .problem && check.message.hasPrefix("no network: "))
        #expect(found("discovery", { $0.diagnosis?.network = false }).count == 0)
        #expect(found("network", { $0.diagnosis?.network = true }).count == 0)
        let absent = try only("network") {
            $0.diagnosis?.network = false
            $0.diagnosis?.missingInterfaces = ["nope0"]
        }
        #expect(absent.state == .problem && absent.message.hasSuffix("with the configured name: nope0"))
        let away = try only("network") {
            $0.diagnosis?.network = false
            $0.diagnosis?.missingAddress = "192.0.2.9"
        }
        #expect(away.state == .problem && away.message.contains("listens on 192.0.2.9 only"))
        let other = try only("network") {
            $0.diagnosis?.network = true
            $0.diagnosis?.missingInterfaces = ["nope0"]
        }
        #expect(other.state == .warning && other.message.hasSuffix("with a configured name: nope0"))
        #expect(found("discovery", { $0.diagnosis?.missingInterfaces = ["nope0"] }).count == 1)
    }

    @Test func `a long time without any answer may be a removal`() throws {
        let checks = found("devices") { $0.status?.unansweredSince = 1_800_000_000 }
        let check = try #require(checks.first)
        #expect(checks.count == 2 && check.state == .warning)
        #expect(check.message.contains("or this device was removed"))
        #expect(check.remedy?.contains("lists 3f3f3f3") ?? false)
    }

    @Test func `a port without a listener is a problem`() throws {
        let check = try only("port") { $0.machine.udp = [.text("header\n")] }
        #expect(check.state == .problem && check.message.contains("UDP") && !check.message.contains("TCP"))
        #expect(found("port") { $0.machine.tcp = [.unreadable, .missing] }.isEmpty)
    }

    @Test func `ufw rules are evaluated if readable`() throws {
        func check(_ rules: FileFact) throws -> DoctorCheck {
            try only("firewall") { facts in
                facts.machine.ufw = .text("ENABLED=yes\n")
                facts.machine.ufwRules = rules
            }
        }
        let unknown = try check(.unreadable)
        #expect(unknown.state == .warning && unknown.message.contains("cannot tell"))
        #expect(unknown.remedy?.hasSuffix("sudo ufw allow Handoff") == true)
        #expect(try check(.text("### tuple ### allow tcp 22 0.0.0.0/0 any 0.0.0.0/0 in\n")).state == .problem)
        let ours = "### tuple ### allow tcp 24863:24872 0.0.0.0/0 any 0.0.0.0/0 Handoff - in\n"
        #expect(try check(.text(ours)).state == .problem)
        #expect(try check(.text(ours + ours.replacing("tcp", with: "udp"))).state == .ok)
        #expect(try check(.text("### tuple ### allow any any 0.0.0.0/0 any 192.168.0.0/16 in\n")).state == .ok)
        let one = ours.replacing("24863:24872", with: "24863")
        let noPairing = try check(.text(one + one.replacing("tcp", with: "udp")))
        #expect(noPairing.state == .problem && noPairing.message.contains("for pairing, port 24864"))
        let denied = ours.replacing("allow tcp", with: "deny any")
        #expect(try check(.text(denied + ours + ours.replacing("tcp", with: "udp"))).message.contains("cannot tell"))
        for rules in ["### tuple ###\n", "\u{0}", "### tuple ### allow tcp 70000: 0 any 0 in in\n"] {
            #expect(try check(.text(rules)).state == .problem)
        }
        let lax = try only("firewall") { facts in
            facts.machine.ufw = .text("ENABLED=yes\n")
            facts.machine.ufwDefaults = .text("DEFAULT_INPUT_POLICY=\"ACCEPT\"\n")
            facts.machine.ufwRules = .text("")
        }
        #expect(lax.state == .ok)
        #expect(found("firewall") { $0.machine.ufw = .text("# ENABLED=yes\nENABLED=no") }.first?.state == .ok)
    }

    @Test func `firewalld zones are evaluated if readable`() throws {
        func check(_ zone: FileFact, port: UInt16 = 24_863) throws -> DoctorCheck {
            try only("firewall") { facts in
                facts.status?.port = port
                facts.machine.firewalldRuns = true
                facts.machine.firewalld = .text("# x\nDefaultZone=home\n")
                facts.machine.firewalldZone = zone
            }
        }
        #expect(try check(.unreadable).message.contains("cannot tell"))
        let shut = try check(.text("<zone><service name=\"handoffs\"/></zone>"))
        #expect(shut.state == .problem && shut.message.contains("default zone home"))
        #expect(shut.remedy?.contains("--add-service=handoff") == true)
        #expect(try check(.text("<zone>\n  <service name=\"handoff\"/>\n</zone>")).state == .ok)
        #expect(try check(.text("<zone><service name=\"handoff\"/></zone>"), port: 4000).state == .problem)
        let ports = "<port port=\"24863-24864\" protocol=\"tcp\"/><port protocol='udp' port='24000-25000'/>"
        #expect(try check(.text("<zone>\(ports)</zone>")).state == .problem)
        #expect(try check(.text("<zone>\(ports)<service name='mdns'/></zone>")).state == .ok)
        let one = ports.replacing("24863-24864", with: "24863")
        let noPairing = try check(.text("<zone>\(one)<service name='mdns'/></zone>"))
        #expect(noPairing.state == .problem && noPairing.message.contains("for pairing, port 24864"))
        let other = "<service name='handoff'/><port port='4000' protocol='tcp'/><port port='4000' protocol='udp'/>"
        #expect(try check(.text("<zone>\(other)</zone>"), port: 4000).state == .ok)
        #expect(try check(.text("<zone target=\"ACCEPT\">")).state == .ok)
        let hidden = try only("firewall") { facts in
            facts.machine.firewalldRuns = true
            facts.machine.firewalld = .unreadable
            facts.machine.firewalldZone = .text("<zone>")
        }
        #expect(hidden.state == .warning && hidden.message.contains("cannot tell"))
    }

    /// Bindings of a zone that allows nothing, and the resulting state if the interfaces in use are
    /// known and if they are unknown.
    private static let bindings: [(String, known: DoctorCheck.State, unknown: DoctorCheck.State)] = [
        ("<interface name=\"eth0\"/>", .problem, .warning), ("<interface name='wlan0'/>", .problem, .warning),
        ("<interface name=\"eth1\"/>", .ok, .warning), ("<interface name=\"lo\"/>", .ok, .warning),
        ("<source address=\"10.0.0.0/8\"/>", .warning, .warning), ("", .ok, .ok),
        ("<interface/><interface name=/><interface name=\"\"", .ok, .ok),
    ]

    @Test(arguments: bindings) func `zones with bound interfaces are evaluated`(
        _ binding: String, _ known: DoctorCheck.State, _ unknown: DoctorCheck.State
    ) throws {
        let open = FileFact.text("<zone><service name=\"handoff\"/></zone>")
        func check(_ change: (inout MachineFacts) -> Void) throws -> DoctorCheck {
            try only("firewall") { facts in
                facts.machine.firewalldRuns = true
                facts.machine.firewalldZone = open
                facts.machine.firewalldZones = ["work": .text("<zone>\(binding)</zone>")]
                facts.machine.routes = .text("Iface\tDestination\tGateway\neth0\t00000000\t0101A8C0\n")
                facts.machine.addresses = .text("fe80000000000000 03 40 20 80   wlan0\n00000001 01 80 10 80 lo\n")
                change(&facts.machine)
            }
        }
        let found = try check { _ in }
        #expect(found.state == known)
        if known != .ok { #expect(found.remedy?.contains("--zone=work --add-service=handoff") == true) }
        #expect(found.message.contains(known == .ok ? "default zone public" : "firewalld (zone work)"))
        let blind = try check { machine in
            machine.routes = .unreadable
            machine.addresses = .missing
        }
        #expect(blind.state == unknown)
    }

    @Test func `the default zone is skipped if all interfaces are bound to others`() throws {
        let binding = "<interface name=\"eth0\"/><interface name=\"eth1\"/>"
        func check(_ more: String, _ zones: [String: FileFact]? = nil) throws -> DoctorCheck {
            try only("firewall") { facts in
                facts.machine.firewalldRuns = true
                facts.machine.firewalldZone = .text("<zone>")
                facts.machine.firewalldZones = zones ?? ["home": .text("<zone>\(binding)\(more)</zone>")]
                facts.machine.routes = .text("Iface\neth0\n")
            }
        }
        let open = "<service name=\"handoff\"/>"
        #expect(try check(open).message.hasPrefix("firewalld (zone home) allows"))
        #expect(try check("").state == .problem)
        #expect(try check("", ["home": .unreadable]).message.contains("default zone public"))
        #expect(try check("", ["public": .text("<zone>\(binding)\(open)</zone>")]).state == .problem)
    }

    @Test func `saved iptables rules are not interpreted`() throws {
        let check = try only("firewall") { $0.machine.iptables = .text("*filter\n") }
        #expect(check.state == .warning && check.message.contains("cannot tell"))
        #expect(check.remedy?.contains("-p udp -m multiport --dports 5353,24863:24872 -j ACCEPT") == true)
        let other = try only("firewall") { facts in
            facts.status?.port = 4000
            facts.machine.iptables = .text("*filter\n")
        }
        #expect(other.remedy?.contains("-p tcp -m multiport --dports 4000,24863:24872 -j ACCEPT") == true)
    }

    /// Rules of a chain with policy drop, and whether they allow the port and multicast DNS.
    private static let rules: [(String, Bool?)] = [
        ("", false),
        ("tcp dport 24863 accept\nudp dport { 5353, 24863 } accept", true),
        ("tcp dport { 22, 24000-25000 } counter accept comment \"x\"\nudp dport {24863,mdns} accept", true),
        ("meta l4proto { tcp, udp } th dport { 5353, 24863 } accept", true),
        ("tcp dport 24863 accept; udp dport { 5353, 24863 } accept", true),
        ("tcp dport 24863 accept", false),
        ("tcp dport 124863 accept", nil),
        ("tcp dport 2486 accept\nudp dport 2486 accept", false),
        ("# tcp dport 24863 accept\n# udp dport { 5353, 24863 } accept", false),
        ("ct state invalid drop\nct state established,related accept\niif lo accept\ntcp dport ssh accept", false),
        ("ip saddr 192.168.0.0/16 accept", nil),
        ("tcp dport 24863 drop\ntcp dport 24863 accept\nudp dport { 5353, 24863 } accept", false),
        ("tcp dport 24863 accept\nudp dport { 5353, 24863 } accept\ntcp dport 24000-25000 drop", true),
        ("meta l4proto { tcp, udp } th dport { 5353, 24863 } counter packets 3 bytes 180 accept", true),
        ("jump more", nil), ("tcp dport @mine accept", nil), ("tcp dport { accept", nil), ("}", false),
        ("tcp dport 9-1 accept", nil), ("tcp dport - accept", nil), ("{{{{", nil), ("accept", true),
    ]

    @Test(arguments: rules) func `nftables rules are evaluated if readable`(_ rules: String, _ expected: Bool?) {
        let text = """
            table inet filter {
              chain input {
                type filter hook input priority filter; policy drop;
                \(rules)
              }
              chain forward {
                type filter hook forward priority filter; policy drop;
              }
            }
            """
        #expect(NftablesText.allows(24_863, text) == expected)
    }

    /// Rules in the output of `nft list ruleset`, and the resulting state.
    private static let live: [(String, DoctorCheck.State)] = [
        ("", .ok), ("tcp dport 22 drop", .ok),
        ("tcp dport 24863 counter packets 12 bytes 720 drop", .problem),
        ("meta l4proto { tcp, udp } th dport 24000-25000 reject with icmpx port-unreachable", .problem),
        ("meta l4proto tcp drop", .problem), ("ip protocol udp reject", .problem),
        ("udp dport 5353 drop", .problem), ("counter packets 0 bytes 0 drop", .problem),
        ("ip saddr 192.0.2.1 drop", .warning), ("jump filter_INPUT", .warning),
        ("ip saddr @banned drop", .warning),
    ]

    @Test(arguments: live)
    func `rules in the kernel count even if none are saved`(_ rule: String, _ expected: DoctorCheck.State) throws {
        let text = """
            table ip nat {
                chain PREROUTING {
                    type nat hook prerouting priority dstnat; policy accept;
                    fib daddr type local counter packets 9 bytes 540 jump DOCKER
                }
            }
            table inet filter {
                set banned {
                    type ipv4_addr
                    elements = { 192.0.2.7, 192.0.2.8 }
                }
                chain input {
                    type filter hook input priority filter; policy accept;
                    \(rule)
                }
            }
            """
        let check = try only("firewall") { $0.machine.liveRules = .text(text) }
        #expect(check.state == expected, "\(check)")
        #expect(expected == .ok || check.message.contains("the kernel (nftables)"))
    }

    @Test func `unread kernel rules are not taken as absent`() throws {
        let hidden = try only("firewall") { $0.machine.liveRules = .hidden("only the administrator can read them") }
        #expect(hidden.state == .warning && hidden.message.contains("not read: only the administrator"))
        #expect(hidden.remedy?.contains("sudo nft list ruleset") == true)
        #expect(try only("firewall") { $0.machine.liveRules = .text("") }.state == .ok)
        // The saved rules apply as well.
        let saved = try only("firewall") { facts in
            facts.machine.liveRules = .hidden("x")
            facts.machine.ufw = .text("ENABLED=yes")
        }
        #expect(saved.message.contains("ufw"))
    }

    @Test func `an MTU too small for the record is reported`() throws {
        let checks = found("network") { $0.machine.packetSizes = ["eth0": 1500, "ppp0": 576, "wg0": 1280] }
        #expect(checks.map(\.state) == [.warning])
        #expect(checks.first?.message.contains("the MTU of interface ppp0 is 576 bytes") == true)
        #expect(checks.first?.remedy?.contains("mtu 1280") == true)
    }

    @Test func `nftables without an input chain allows everything`() throws {
        func check(_ rules: FileFact) throws -> DoctorCheck { try only("firewall") { $0.machine.nftables = rules } }
        #expect(try check(.unreadable).message.contains("cannot tell"))
        #expect(try check(.text("table inet filter {\n}\n")).state == .ok)
        let accepting = "chain input {\ntype filter hook input priority 0; policy accept;\n}\n"
        #expect(try check(.text(accepting)).state == .ok)
        let closed = try check(.text("chain input {\ntype filter hook input priority 0; policy drop;\n}\n"))
        #expect(closed.state == .problem && closed.remedy?.contains("th dport { 5353, 24863-24872 } accept") == true)
        let narrow = "tcp dport 24863 accept\nudp dport { 5353, 24863 } accept"
        let noPairing = try check(
            .text("chain input {\ntype filter hook input priority 0; policy drop;\n\(narrow)\n}\n"))
        #expect(noPairing.state == .problem && noPairing.message.contains("for pairing, port 24864"))
        #expect(try check(.text("chain i { type filter hook input priority 0; }")).message.contains("cannot tell"))
        #expect(try check(.text("include \"/etc/nftables.d/*\"\n")).message.contains("cannot tell"))
    }

    @Test func `an unsynchronized clock is reported`() throws {
        #expect(try only("clock") { $0.machine.clockIsSynchronized = false }.state == .warning)
        #expect(try only("clock") { $0.machine.clockIsSynchronized = nil }.message.contains("cannot tell"))
        let check = try only("clock") { $0.diagnosis?.members[0].clockAhead = 1e300 }
        #expect(check.state == .warning && check.message.contains("laptop"))
    }

    @Test func `a machine without apps is reported`() throws {
        #expect(try only("apps") { $0.apps = [] }.state == .warning)
        let off = try only("apps") { $0.apps?[0].enabled = false }
        #expect(off.state == .warning && off.remedy?.contains("handoffctl app enable") == true)
        #expect(found("apps") { $0.apps = nil }.isEmpty)
    }

    @Test func `an unusable app file is reported`() throws {
        let checks = found("apps") { $0.diagnosis?.appProblems = ["cannot use /x.json: line 1: no name"] }
        #expect(checks.map(\.state) == [.warning, .ok] && checks[0].message.contains("/x.json"))
    }

    @Test func `the setting that prevents namespaces is named`() throws {
        let obstacles: [(inout DoctorFacts) -> Void] = [
            { $0.machine.namespaceLimit = .text("0\n") }, { $0.machine.namespaceClone = .text("0\n") },
            { $0.machine.namespaceAppArmor = .text("1\n") },
        ]
        for obstacle in obstacles {
            let check = try only("sandbox", obstacle)
            #expect(check.state == .warning && check.remedy?.contains("sysctl") == true)
            let isolated = try only("sandbox") { facts in
                obstacle(&facts)
                facts.diagnosis?.isIsolated = true
            }
            #expect(isolated.state == .ok)
        }
    }

    @Test func `limits that are too low are reported`() throws {
        #expect(try only("files") { $0.diagnosis?.openFiles = 256 }.state == .warning)
        #expect(try only("files") { $0.diagnosis?.openFiles = nil }.state == .ok)
        #expect(try only("memory") { $0.diagnosis?.lockedMemory = 4096 }.state == .warning)
    }

    @Test func `offline devices are reported`() throws {
        #expect(try only("devices") { $0.diagnosis?.members = [] }.remedy?.contains("handoffctl pair") == true)
        let gone = try only("devices") { facts in
            facts.diagnosis?.members[0].online = false
            facts.diagnosis?.members[0].heard = 7200
            facts.diagnosis?.members[0].trouble = "connection refused"
        }
        #expect(gone.state == .warning && gone.message.contains("2 h") && gone.message.contains("connection refused"))
        #expect(try only("devices") { $0.diagnosis?.members[0].trouble = "timed out" }.state == .warning)
    }

    @Test func `a state folder that other users can access is a problem`() throws {
        let check = try only("state") { $0.diagnosis?.stateMode = 0o755 }
        #expect(check.state == .problem && check.remedy == "chmod 700 '/home/a/.local/state/handoff'")
        #expect(try only("state") { $0.diagnosis?.stateMode = nil }.state == .problem)
    }

    @Test func `leftovers of transfers and apps are counted, with the command that deletes them`() throws {
        #expect(!Doctor.checks(Self.well).contains { $0.name == "parts" })
        let parts = try only("parts") {
            $0.machine.leftovers.parts = 2
            $0.machine.leftovers.bytes = 2048
            $0.machine.leftovers.folders = ["/home/a/My files"]
        }
        #expect(parts.state == .ok)
        #expect(parts.message.contains("2 interrupted transfers are kept hidden in /home/a/My files"))
        #expect(parts.message.contains("2.0 KiB") && parts.message.contains("14 days"))
        #expect(parts.remedy?.hasSuffix("rm -r '/home/a/My files'/.*.handoff-part") == true)
        let documents = try only("parts") { $0.machine.leftovers.documents = 1 }
        #expect(documents.message.contains("documents of 1 app that ended") && documents.remedy == nil)
    }

    @Test func `warnings of the daemon are included`() throws {
        #expect(try only("warning") { $0.status?.warnings = ["no key"] }.message == "no key")
    }
}
