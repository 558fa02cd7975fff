import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

@testable import HandoffCommands

/// Tests commands that send one request and show its reply.
@Suite struct QueryCommandTests {
    private let run: CommandRun

    init() throws {
        run = try CommandRun()
    }

    private static let status = ControlStatus(
        daemon: "0.1.0", device: Sample.device(0x3F), name: "desk\u{202E}", kind: .desktop, account: Sample.account,
        epoch: 2, discovery: "avahi", discoveryState: "running", port: 24863,
        peers: [
            ControlPeer(
                device: Sample.device(0x1A), name: "laptop", address: "192.168.1.5:24863", via: .mdns, connected: true,
                activities: 2),
            ControlPeer(
                device: nil, name: nil, address: "10.0.0.1:24863", via: .static, connected: false, activities: 0),
        ], published: 1, offered: 3,
        tickets: [
            ControlTicket(id: "0123456789ab", device: Sample.device(0x3F), mine: true),
            ControlTicket(id: "fedcba987654", device: Sample.device(0x3F), mine: true, age: 300),
        ],
        warnings: ["no firewall rule"])

    @Test func `status is readable`() throws {
        #expect(try run.run("status") { $0.reply(Self.status.json) } == .done)
        let id = Array(repeating: "3f3f3f3f", count: 8).joined(separator: "-")
        let account = Array(repeating: "acacacac", count: 4).joined(separator: "-")
        #expect(
            run.output == """
                daemon      0.1.0
                device      desk\\u{202E} (desktop)
                id          \(id)
                account     \(account), epoch 2
                discovery   avahi, running
                port        24863
                activities  1 published here, 3 offered by other devices
                switches    advertising on, receiving on
                peers       NAME           ID       ADDRESS            VIA     CONNECTION  OFFERS
                            laptop         1a1a1a1  192.168.1.5:24863  mdns    open        2
                            not yet known           10.0.0.1:24863     static  none        0
                tickets     0123456, exported by this device, not used yet
                            fedcba9, exported by this device 5 min ago, not used yet
                warnings    no firewall rule

                """)
        #expect(run.diagnostics.isEmpty)
    }

    @Test func `status is JSON`() throws {
        #expect(try run.run("--json", "status") { $0.reply(Self.status.json) } == .done)
        var expected = Self.status.json
        expected["version"] = 1
        #expect(run.objects == [expected])
    }

    @Test func `devices are a table`() throws {
        let devices = [
            ControlDevice(id: Sample.device(0x3F), name: "desk", kind: .desktop, isSelf: true, online: true),
            ControlDevice(id: Sample.device(0x1A), name: "", kind: .laptop, isSelf: false, online: false),
            ControlDevice(
                id: Sample.device(0x2B), name: "phone", kind: .phone, isSelf: false, online: false, heard: 7300),
        ]
        let reply: JSONObject = ["devices": .array(devices.map { .object($0.json) })]
        #expect(try run.run("devices") { $0.reply(reply) } == .done)
        #expect(
            run.output == """
                NAME     KIND     STATE                  ID
                desk     desktop  this device            3f3f3f3
                unnamed  laptop   offline                1a1a1a1
                phone    phone    offline, seen 2 h ago  2b2b2b2

                """)
    }

    @Test func `devices are a line of JSON each`() throws {
        let device = ControlDevice(id: Sample.device(0x3F), name: "desk", kind: .desktop, isSelf: true, online: true)
        #expect(try run.run("devices", "--json") { $0.reply(["devices": [.object(device.json)]]) } == .done)
        #expect(
            run.objects == [
                [
                    "version": 1, "id": .string(device.id.hex), "name": "desk", "label": nil, "kind": "desktop",
                    "self": true,
                    "online": true, "current": true, "unfinished": false, "admittedBy": nil, "heard": nil,
                    "asleepSince": nil, "acceptLimit": nil,
                ]
            ])
    }

    @Test func `devices that have not answered for long may have removed this one`() throws {
        let devices = [
            ControlDevice(id: Sample.device(0x3F), name: "desk", kind: .desktop, isSelf: true, online: true),
            ControlDevice(
                id: Sample.device(0x1A), name: "laptop", kind: .laptop, isSelf: false, online: false, current: false),
        ]
        var answers = [
            "ListDevices": ["devices": .array(devices.map { .object($0.json) })], "GetStatus": Self.status.json,
        ]
        #expect(try run.run("devices") { $0.reply(answers[$0.member] ?? [:]) } == .done)
        #expect(run.output.contains("does not have the latest key") && run.diagnostics.isEmpty)
        var status = Self.status
        status.unansweredSince = 1_800_000_000
        answers["GetStatus"] = status.json
        #expect(try run.run("devices") { $0.reply(answers[$0.member] ?? [:]) } == .done)
        #expect(!run.output.hasSuffix("latest key\n"))
        #expect(run.diagnostics.contains("or this device was removed from the account\n  check on another device"))
    }

    @Test func `a sleeping device is shown with the time`() throws {
        let moment = Double(SystemWallClock().unixSeconds)
        let device = ControlDevice(
            id: Sample.device(0x3F), name: "desk", kind: .desktop, isSelf: false, online: false, heard: 60,
            asleepSince: moment)
        let since = "asleep since \(LocalTime.short(moment, now: moment))"
        #expect(try run.run("devices") { $0.reply(["devices": [.object(device.json)]]) } == .done)
        #expect(run.output.contains("desk  desktop  \(since)  3f3f3f3"))
        let answers = ["ListDevices": ["devices": [.object(device.json)]], "GetStatus": Self.status.json]
        #expect(try run.run("list") { $0.reply(answers[$0.member] ?? ["activities": []]) } == .done)
        #expect(run.diagnostics.hasSuffix("handoffctl: desk (3f3f3f3) has been \(since)\n"))
    }

    @Test func `activities of this device are shown with their audience`() throws {
        let editing = try #require(ActivityType("com.example.editing"))
        let own = [
            PublishedActivity(
                id: Sample.activityID(0xA1), type: editing, title: "Letter", app: "org.example.Editor", offered: true,
                reason: nil,
                age: 70),
            PublishedActivity(
                id: Sample.activityID(0xB2), type: .browsingWeb, title: nil, app: nil, offered: false,
                reason: "it is not current", age: nil),
        ]
        var status = Self.status
        status.standing = ReplyWord(Standing.member)
        let answers = [
            "dev.handoff1.Control.ListPublished": ["activities": .array(own.map { .object($0.json) })],
            "dev.handoff1.Control.GetStatus": status.json,
        ]
        #expect(try run.run("list", "--mine") { $0.reply(answers[$0.method] ?? [:]) } == .done)
        #expect(
            run.output == """
                ID       TITLE   TYPE                 APP                 SINCE  OFFERED
                a1a1a1a  Letter  com.example.editing  org.example.Editor  1 min  yes
                b2b2b2b          web page                                        no: it is not current

                """)
        #expect(run.diagnostics.contains("seen by: "))
        #expect(try run.run("list", "--mine", "--here") { _ in } == .wrongUsage)
    }

    private static func offers() throws -> [OfferedActivity] {
        let editing = try #require(ActivityType("com.example.editing"))
        return [
            Sample.offer(0xA1, type: editing, title: "A title that is longer than forty columns by far", age: 3),
            Sample.offer(
                0xB2, type: .browsingWeb, title: nil, deviceName: "phone\u{1B}[2J", age: 150,
                opens: ControlOpens(kind: .nothing, reason: "no app continues it")),
        ]
    }

    private static func reply(_ offers: [OfferedActivity]) -> JSONObject {
        ["activities": .array(offers.map { .object($0.json) })]
    }

    @Test func `offers are a table that fits a terminal`() throws {
        let offers = try Self.offers()
        #expect(try run.run("list", onTerminal: true) { $0.reply(Self.reply(offers)) } == .done)
        #expect(
            run.output == """
                ID       TITLE                                     TYPE                 DEVICE          AGE       OPENS IN
                a1a1a1a  A title that is longer than forty colum…  com.example.editing  laptop          just now  Editor
                b2b2b2b                                            web page             phone\\u{1B}[2J  2 min     nothing: no app continues it

                """)
    }

    @Test func `the app to install is named if it is known`() throws {
        let type = try #require(ActivityType("org.example.Planner.plan"))
        var offer = Sample.offer(0xA1, type: type, title: "Plan", opens: ControlOpens(kind: .nothing, reason: "no app"))
        offer.missing = [ControlMissing(.app, name: "org.example.Planner", appStream: "org.example.Planner")]
        #expect(try run.run("list") { $0.reply(Self.reply([offer])) } == .done)
        #expect(run.output.contains("nothing: no app; install org.example.Planner (appstream://org.example.Planner)\n"))
    }

    @Test func `offers are a line of JSON each`() throws {
        let offers = try Self.offers()
        #expect(try run.run("list", "--json", "--here") { $0.reply(Self.reply(offers)) } == .done)
        #expect(run.objects.count == 2)
        #expect(run.objects.first?["id"]?.string == Sample.activityID(0xA1).hex)
        #expect(run.objects.last?["title"] == JSON.null)
        #expect(run.objects.last?["webpageURL"] == JSON.null)
        #expect(run.objects.last?["opens"] == ["kind": "nothing", "reason": "no app continues it"])
        #expect(run.daemon.parameters(of: "ListActivities") == ["here": true])
    }

    @Test func `without offers there is no output`() throws {
        #expect(try run.run("list", answer: Self.emptyList(Self.status)) == .done)
        #expect(run.output.isEmpty)
        #expect(run.diagnostics == "handoffctl: no other device offers anything\n")
    }

    private static func emptyList(_ status: ControlStatus) -> (FakeDaemon.Call) -> Void {
        { $0.member == "GetStatus" ? $0.reply(status.json) : $0.reply(["activities": []]) }
    }

    @Test func `an empty list shows why there are no offers`() throws {
        let hold = ControlRestriction(
            direction: .receive, author: .user, device: nil, until: nil, message: "Handoff is paused on this device")
        let cases: [(change: (inout ControlStatus) -> Void, said: String)] = [
            ({ $0.account = nil }, "this device is not in an account\n  handoffctl join,"),
            (
                { $0.standing = ReplyWord(Standing.removed) },
                "this device was removed from its account\n  handoffctl join,"
            ),
            (
                { $0.standing = ReplyWord(Standing.joining) },
                "no member has admitted this device yet\n  handoffctl status"
            ),
            ({ $0.holds = [hold] }, "Handoff is paused on this device\n  handoffctl receive on\n"),
            ({ $0.peers = [] }, "no other device of the account is online\n  handoffctl devices"),
        ]
        for (change, said) in cases {
            let run = try CommandRun()
            var status = Self.status
            change(&status)
            #expect(try run.run("list", answer: Self.emptyList(status)) == .done)
            #expect(run.diagnostics.hasPrefix("handoffctl: no offers here: " + said), "\(run.diagnostics)")
        }
    }

    @Test func `a list names devices whose offers may not be received, with other offers or without`() throws {
        var status = Self.status
        status.holds = [
            ControlRestriction(
                direction: .receive, author: .user, device: Sample.device(0x1A), until: nil,
                message: "receiving is switched off: lap\u{1B}top"),
            ControlRestriction(
                direction: .advertise, author: .user, device: Sample.device(0x1A), until: nil,
                message: "another direction"),
        ]
        let type = try #require(ActivityType("com.example.editing"))
        for offers in [[], [Sample.offer(0xA1, type: type, title: "Letter")]] {
            let run = try CommandRun()
            let answers = [
                "GetStatus": status.json, "ListDevices": ["devices": []],
                "ListActivities": ["activities": .array(offers.map { .object($0.json) })],
            ]
            #expect(try run.run("list") { $0.reply(answers[$0.member] ?? [:]) } == .done)
            #expect(
                run.diagnostics.hasSuffix(
                    "handoffctl: receiving is switched off: lap\\u{1B}top\n  handoffctl receive on --device 1a1a1a1\n"),
                "\(run.diagnostics)")
            #expect(!run.diagnostics.contains("another direction"))
        }
    }

    @Test func `the log is readable`() throws {
        let device = Sample.device(0x1A)
        let entries = [
            ControlLogEntry(
                number: 1, event: .continuation, direction: .in, type: "NSUserActivityTypeBrowsingWeb", device: device,
                deviceName: "desk", app: "org.example.Web", outcome: "launchFailed"),
            ControlLogEntry(
                number: 2, event: .stream, direction: .in, device: device, deviceName: "desk", outcome: "ended",
                sent: 130, received: 1_590_531_335),
        ]
        let page = ControlLogPage(entries: entries, hasMore: false)
        #expect(try run.run("log") { $0.reply(page.json) } == .done)
        let lines = run.output.split(separator: "\n")
        #expect(lines.first?.hasSuffix("  web page from desk (1a1a1a1) in org.example.Web: launch failed") == true)
        #expect(
            lines.last?.hasSuffix("  stream from desk (1a1a1a1): ended, 130 bytes sent, 1.5 GiB received") == true)
    }

    @Test func `an account is shown or null`() throws {
        let none = ControlAccount(account: nil, epoch: nil, devices: 1, tickets: [])
        #expect(try run.run("account", "show", "--json") { $0.reply(none.json) } == .done)
        #expect(run.objects == [["version": 1, "account": nil, "epoch": nil, "devices": 1, "tickets": []]])
    }

    @Test func `an error of the daemon is shown with advice`() throws {
        let error: (FakeDaemon.Call) -> Void = {
            $0.fail("dev.handoff1.Control.NoAccount", ["message": "this device has no account"])
        }
        #expect(try run.run("devices", answer: error) == .failed)
        #expect(run.output.isEmpty)
        #expect(run.diagnostics.hasPrefix("handoffctl: this device has no account\n  create one here with: "))
    }

    @Test func `an error of the daemon is one line of JSON`() throws {
        let fields: JSONObject = ["account": "ac", "message": "there is one"]
        let status = try run.run("--json", "account", "create") {
            $0.fail("dev.handoff1.Control.AccountExists", fields)
        }
        #expect(status == .failed)
        #expect(
            run.errorObjects == [["version": 1, "error": "AccountExists", "message": "there is one", "account": "ac"]])
        #expect(run.diagnostics.split(separator: "\n").count == 1)
    }

    @Test func `peers are added and removed`() throws {
        #expect(try run.run("peer", "add", "desk:24863") { $0.reply() } == .done)
        #expect(try run.run("peer", "remove", "desk:24863") { $0.reply() } == .done)
        #expect(run.output == "added desk:24863\nremoved desk:24863\n")
        #expect(run.daemon.methods == ["AddPeer", "RemovePeer"])
        #expect(run.daemon.parameters(of: "RemovePeer") == ["address": "desk:24863"])
    }

    @Test func `an unreachable daemon is reported with its socket and advice`() throws {
        run.daemon.stop()
        #expect(try run.run("status") == .daemonNotReachable)
        #expect(
            run.diagnostics == """
                handoffctl: cannot reach the daemon at \(run.daemon.path): no such file or directory
                  start it with: systemctl --user start handoffd
                  or run handoffd in another terminal; use --socket PATH for another socket

                """)
    }

    @Test func `a daemon that dies during a request is not reachable`() throws {
        #expect(try run.run("status", "--json") { $0.crash() } == .daemonNotReachable)
        #expect(run.errorObjects.first?["error"] == "ConnectionLost")
    }

    @Test func `the socket option takes precedence over the environment and the default`() {
        let set = Program.Environment(socket: "/env", runtimeDirectory: "/run/user/7", userID: 7)
        let unset = Program.Environment(socket: "", runtimeDirectory: nil, userID: 7)
        #expect(Program.socketPath("/option", set) == "/option")
        #expect(Program.socketPath(nil, set) == "/env")
        #expect(Program.socketPath(nil, unset) == "/run/user/7/handoff/control.socket")
    }
}
