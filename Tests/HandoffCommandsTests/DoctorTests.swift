import HandoffControl
import HandoffModel
import HandoffTestSupport
import HandoffTransfer
import Testing

@testable import HandoffCommands

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

    private static let laptop = ControlPeer(
        device: Sample.device(0x1A), name: "laptop", address: "192.168.1.5:24863", via: .mdns, connected: true,
        activities: 0)

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
            $0.status?.standing = ReplyWord(Standing.removed)
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

    @Test(arguments: [
        (Firewall.ufw, UInt16(24_863), "sudo ufw allow Handoff"),
        (.ufw, 4000, "sudo ufw allow Handoff; sudo ufw allow 4000"),
        (.firewalld, 24_870, "sudo firewall-cmd --permanent --add-service=handoff && sudo firewall-cmd --reload"),
        (.firewalld, 4000, "--add-service=handoff --add-port=4000/tcp --add-port=4000/udp &&"),
        (.nftables, 24_863, "th dport { 5353, 24863-24872 } accept' to the input chain"),
        (.nftables, 4000, "th dport { 5353, 4000, 24863-24872 } accept' to the input chain"),
        (.iptables, 24_863, "-p udp -m multiport --dports 5353,24863:24872 -j ACCEPT"),
        (.iptables, 4000, "-p tcp -m multiport --dports 4000,24863:24872 -j ACCEPT"),
    ])
    func `an active firewall is a warning with the command that allows the ports, until a device is online`(
        _ firewall: Firewall, _ port: UInt16, _ remedy: String
    ) throws {
        let check = try only("firewall") { facts in
            facts.machine.firewall = firewall
            facts.status?.port = port
        }
        #expect(check.state == .warning && check.message.hasPrefix("\(firewall.rawValue) is active, and may block"))
        #expect(check.remedy?.contains(remedy) == true, "\(check)")
        let reached = try only("firewall") { facts in
            facts.machine.firewall = firewall
            facts.status?.peers = [Self.laptop]
        }
        #expect(reached.state == .ok && reached.message.contains("other devices are online"))
        #expect(try only("firewall") { _ in }.state == .ok)
    }

    @Test func `an MTU too small for the record is reported`() throws {
        let checks = found("network") { $0.machine.packetSizes = ["eth0": 1500, "ppp0": 576, "wg0": 1280] }
        #expect(checks.map(\.state) == [.warning])
        #expect(checks.first?.message.contains("the MTU of interface ppp0 is 576 bytes") == true)
        #expect(checks.first?.remedy?.contains("mtu 1280") == true)
    }

    @Test func `an unsynchronized clock is reported`() throws {
        #expect(try only("clock") { $0.machine.clockIsSynchronized = false }.state == .warning)
        #expect(try only("clock") { $0.machine.clockIsSynchronized = nil }.message.contains("cannot determine"))
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
