import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import Testing

@testable import HandoffCommands

/// Tests the checks between this device and an offer.
@Suite struct WhyCommandTests {
    private static let deskID = DeviceID(checked: [UInt8](repeating: 0xD1, count: DeviceID.byteCount))
    private static let ownID = DeviceID(checked: [UInt8](repeating: 0x01, count: DeviceID.byteCount))

    private static func status(
        account: AccountID? = AccountID(checked: [UInt8](repeating: 7, count: AccountID.byteCount)),
        holds: [ControlRestriction] = []
    ) -> ControlStatus {
        ControlStatus(
            daemon: "handoffd/1", device: ownID, name: "here", kind: .laptop, account: account,
            standing: account == nil ? nil : .member, epoch: 1, discovery: "embedded", discoveryState: "running",
            port: 24863, peers: [], published: 0, offered: 0, tickets: [],
            switches: ControlSwitches(advertising: true, receiving: holds.isEmpty, holds: holds), warnings: [])
    }

    private static func desk(online: Bool = true, current: Bool = true, unfinished: Bool = false) -> ControlDevice {
        ControlDevice(
            id: deskID, name: "desk", kind: .desktop, isSelf: false, online: online, current: current,
            unfinished: unfinished, heard: 7_200)
    }

    private static func offer(opens: ControlOpens, streams: Bool = false) throws -> OfferedActivity {
        OfferedActivity(
            id: ActivityID(checked: [UInt8](repeating: 0xAB, count: ActivityID.byteCount)),
            type: try #require(ActivityType("com.example.editing")), title: "Draft", team: nil, device: deskID,
            deviceName: "desk", deviceKind: .desktop, streams: streams, hasWebpageURL: false, age: 60, opens: opens)
    }

    private static let editor = ControlOpens(kind: .app, name: "Editor")

    private static func states(_ checks: [DoctorCheck]) -> [String: DoctorCheck.State] {
        Dictionary(checks.map { ($0.name, $0.state) }) { first, _ in first }
    }

    @Test func `an offer that opens has no problem`() throws {
        let offer = try Self.offer(opens: Self.editor)
        let checks = Doctor.path(from: Self.desk(), activity: offer, offers: [offer], Self.status(), nil)
        #expect(checks.map(\.name) == ["account", "device", "network", "switches", "offer", "app"], "in order")
        #expect(checks.allSatisfy { $0.state == .ok }, "\(checks)")
    }

    @Test func `an app that this device lacks is named, with the step that installs it`() throws {
        let missing = [ControlMissing(.app, name: "org.example.Editor", appStream: "org.example.Editor")]
        var offer = try Self.offer(opens: ControlOpens(kind: .web))
        offer.missing = missing
        let page = try #require(
            Doctor.path(from: Self.desk(), activity: offer, offers: [offer], Self.status(), nil).last)
        #expect(page.state == .ok && page.message.hasSuffix("; not on this device: the app org.example.Editor"))
        offer.opens = ControlOpens(kind: .nothing, reason: "no app continues it")
        let checks = Doctor.path(from: Self.desk(), activity: offer, offers: [offer], Self.status(), nil)
        let app = try #require(checks.first { $0.name == "app" })
        #expect(app.state == .problem && app.remedy?.hasPrefix("install org.example.Editor") == true, "\(app)")
        #expect(app.remedy?.contains("handoffctl continue --print") == true, "\(app)")
    }

    @Test func `each step reports its problem and a remedy`() throws {
        let hold = ControlRestriction(
            direction: .receive, author: .user, device: nil, until: nil, message: "receiving is switched off")
        let nothing = try Self.offer(opens: ControlOpens(kind: .nothing, reason: "no app continues it"))
        for (name, checks) in [
            ("account", Doctor.path(from: Self.desk(), offers: [], Self.status(account: nil), nil)),
            ("device", Doctor.path(from: Self.desk(unfinished: true), offers: [], Self.status(), nil)),
            ("device", Doctor.path(from: Self.desk(current: false), offers: [], Self.status(), nil)),
            ("network", Doctor.path(from: Self.desk(online: false), offers: [], Self.status(), nil)),
            ("switches", Doctor.path(from: Self.desk(), offers: [], Self.status(holds: [hold]), nil)),
            ("app", Doctor.path(from: Self.desk(), activity: nothing, offers: [nothing], Self.status(), nil)),
        ] {
            #expect(Self.states(checks)[name] == .problem, "\(name): \(checks)")
            #expect(checks.first { $0.name == name }?.remedy != nil)
        }
        let silent = Doctor.path(from: Self.desk(), offers: [], Self.status(), nil)
        #expect(Self.states(silent)["offers"] == .warning, "it works, and offers nothing")
    }

    @Test func `connections that fail while announcements arrive are a problem with a firewall as its likely cause`()
        throws
    {
        let desk = Self.desk()
        let member = ControlDiagnosis.Member(
            device: desk.id, name: desk.name, online: true, heard: 1, trouble: "192.0.2.1:24863: no answer in time")
        let diagnosis = ControlDiagnosis(
            stateFolder: "/s", stateMode: nil, openFiles: nil, lockedMemory: nil, isIsolated: true, members: [member])
        let checks = Doctor.path(from: desk, offers: [], Self.status(), diagnosis)
        let reach = try #require(checks.first { $0.name == "network" })
        #expect(reach.state == .problem && reach.message.contains("announcements of \(desk.name)"))
        #expect(reach.message.contains("no answer in time") && reach.remedy?.contains("firewall") == true)
    }

    @Test func `a switch for another device is not a problem`() {
        let hold = ControlRestriction(
            direction: .receive, author: .user, device: Self.ownID, until: nil, message: "off for another one")
        let checks = Doctor.path(from: Self.desk(), offers: [], Self.status(holds: [hold]), nil)
        #expect(Self.states(checks)["switches"] == .ok)
    }

    /// Returns the check of the notification of an offer, the second of two with these ids.
    private static func notice(
        _ state: ControlNotifications.State, outcome: ControlNotifications.Outcome? = nil, isMuted: Bool = false,
        isNewest: Bool = true
    ) throws -> DoctorCheck {
        let opens = ControlOpens(kind: .app, name: "Editor", app: "org.example.Editor")
        let offer = try offer(opens: opens)
        var newer = try Self.offer(opens: editor)
        newer.id = Sample.activityID(0xCD)
        let app = ControlApp(
            id: "org.example.Editor", name: "Editor", source: .desktop, file: nil, types: [], team: nil, domains: [],
            running: false, verified: nil, enabled: true, notified: !isMuted)
        var notifications = ControlNotifications(state: state)
        if let outcome { notifications.offers = [.init(device: deskID, activity: offer.id, outcome: outcome)] }
        let diagnosis = ControlDiagnosis(
            stateFolder: "/", stateMode: nil, openFiles: nil, lockedMemory: nil, isIsolated: false,
            members: [.init(device: deskID, name: "desk", online: true)], notifications: notifications)
        let checks = Doctor.path(
            from: desk(), activity: offer, offers: isNewest ? [offer, newer] : [newer, offer], apps: [app], status(),
            diagnosis)
        return try #require(checks.last)
    }

    @Test func `the reason for a missing notification is named with a remedy`() throws {
        let cases: [(DoctorCheck, String, String)] = [
            (try Self.notice(.off), "notifications = off", "systemctl --user reload handoffd"),
            (try Self.notice(.away), "its screen is locked", "unlock the screen"),
            (try Self.notice(.unavailable), "no notification server responds", "dunst"),
            (try Self.notice(.on, isMuted: true), "the app is muted", "handoffctl app unmute org.example.Editor"),
            (try Self.notice(.on, outcome: .dismissed), "dismissed", "handoffctl continue abababa"),
            (try Self.notice(.on, outcome: .expired), "has expired", "handoffctl continue abababa"),
            (try Self.notice(.on, isNewest: false), "a newer offer (cdcdcdc)", "handoffctl continue abababa"),
        ]
        for (check, message, remedy) in cases {
            #expect(check.name == "notices" && check.state == .warning, "\(check)")
            #expect(check.message.contains(message) && check.remedy?.contains(remedy) == true, "\(check)")
        }
        for check in [
            try Self.notice(.on), try Self.notice(.on, outcome: .shown), try Self.notice(.on, outcome: .accepted),
        ] { #expect(check.name == "notices" && check.state == .ok && check.remedy == nil, "\(check)") }
    }

    private static func run(_ subject: String, _ device: ControlDevice, json: Bool = false) throws -> (
        HandoffCommands.ExitStatus, CommandRun
    ) {
        let run = try CommandRun()
        let offer = try offer(opens: editor)
        let own = ControlDevice(id: ownID, name: "here", kind: .laptop, isSelf: true, online: true)
        let status = try run.run(["why", subject] + (json ? ["--json"] : [])) { call in
            switch call.method {
            case "dev.handoff1.Control.GetStatus": call.reply(Self.status().json)
            case "dev.handoff1.Control.ListDevices":
                call.reply(["devices": .array([own, device].map { .object($0.json) })])
            case "dev.handoff1.Control.ListActivities":
                call.reply(["activities": [.object(offer.json)]])
            default: call.fail("org.varlink.service.MethodNotFound", ["method": .string(call.method)])
            }
        }
        return (status, run)
    }

    @Test func `a device and an activity are found by name and by id`() throws {
        for subject in ["desk", "d1d1d1d", "ABABABAB"] {
            let (status, run) = try Self.run(subject, Self.desk())
            #expect(status == .done, "\(run.diagnostics)")
            #expect(run.output.contains("“Draft” (ababab"))
            #expect(run.output.contains("opens in Editor"))
        }
    }

    @Test func `its exit status shows whether there is a problem`() throws {
        let (status, run) = try Self.run("desk", Self.desk(online: false), json: true)
        #expect(status == .failed)
        #expect(run.objects.first { $0["check"] == "network" }?["state"] == "problem")
    }

    @Test func `an unknown subject is refused with advice`() throws {
        let (status, run) = try Self.run("nobody", Self.desk())
        #expect(status == .failed)
        #expect(run.diagnostics.contains("handoffctl list"))
        var namesake = Self.desk()
        namesake.name = "here"
        let (ambiguous, refused) = try Self.run("here", namesake)
        #expect(ambiguous == .failed)
        #expect(
            refused.diagnostics.contains("it matches: here (")
                && refused.diagnostics.contains("here (\(namesake.id.short))"))
        let (own, other) = try Self.run("here", Self.desk())
        #expect(own == .wrongUsage)
        #expect(other.diagnostics.contains("handoffctl doctor"))
    }
}
