import HandoffCommands
import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import Testing

/// `devices`, `device rename`, `account leave` and `account rotate`.
@Suite struct DeviceCommandTests {
    private let run: CommandRun

    init() throws {
        run = try CommandRun()
    }

    private static let desk = ControlDevice(
        id: Sample.device(0x3F), name: "Desk", kind: .desktop, isSelf: true, online: true)
    private static let laptop = ControlDevice(
        id: Sample.device(0x1A), name: "Laptop", kind: .laptop, isSelf: false, online: true,
        admittedBy: Sample.device(0x3F))
    private static let phone = ControlDevice(
        id: Sample.device(0x2B), name: "Phone", kind: .phone, isSelf: false, online: false)

    private static func reply(_ devices: [ControlDevice]) -> JSONObject {
        ["devices": .array(devices.map { .object($0.json) })]
    }

    private static func daemon(
        _ devices: [ControlDevice] = [desk, laptop, phone],
        _ other: @escaping (FakeDaemon.Call) -> Void = { $0.reply() }
    ) -> (FakeDaemon.Call) -> Void {
        { call in call.member == "ListDevices" ? call.reply(reply(devices)) : other(call) }
    }

    /// Returns an id with the same prefix as the laptop's.
    private static func similarID() throws -> DeviceID {
        try #require(DeviceID(hex: "1a1a1a1b" + String(repeating: "0", count: 56)))
    }

    // MARK: device accept

    @Test(
        arguments: [
            (["always"], 1 << 30), (["always", "--limit", "200M"], 200 << 20),
            (["always", "--limit", "4GiB"], 4 << 30), (["ask"], nil),
        ] as [([String], Int64?)])
    func `documents of a device are accepted up to a limit`(words: [String], limit: Int64?) throws {
        #expect(try run.run(["--json", "device", "accept", "Laptop"] + words, answer: Self.daemon()) == .done)
        let parameters = run.daemon.parameters(of: "SetDeviceAccepted")
        #expect(parameters == ["device": .string(Self.laptop.id.hex), "limit": limit.map { .integer($0) } ?? .null])
        #expect(run.objects.first?["accepted"] == .string(Self.laptop.id.hex))
    }

    @Test(
        arguments: [
            ["ask", "--limit", "1G"], ["always", "--limit", "5"], ["always", "--limit", "-1G"], ["never"], [],
        ])
    func `an invalid decision about the documents of a device is refused`(words: [String]) throws {
        #expect(try run.run(["device", "accept", "Laptop"] + words) == .wrongUsage)
    }

    // MARK: devices

    @Test func `special states of a device are noted`() throws {
        var stale = Self.laptop
        stale.current = false
        var unfinished = Self.phone
        unfinished.unfinished = true
        unfinished.current = false
        unfinished.name = "d e\u{200B}SK"
        #expect(try run.run("devices") { $0.reply(Self.reply([Self.desk, stale, unfinished])) } == .done)
        #expect(
            run.output == """
                NAME           KIND     STATE        ID       NOTE
                Desk           desktop  this device  3f3f3f3  name similar to 2b2b2b2
                Laptop         laptop   online       1a1a1a1  does not have the latest key
                d e\\u{200B}SK  phone    offline      2b2b2b2  pairing not finished: run join there again, or remove it; name similar to 3f3f3f3

                """)
    }

    @Test func `ids with a common prefix are shown with more digits`() throws {
        var similar = Self.phone
        similar.id = try Self.similarID()
        #expect(try run.run("devices") { $0.reply(Self.reply([Self.laptop, similar])) } == .done)
        #expect(run.output.contains("  1a1a1a1a\n"))
        #expect(run.output.contains("  1a1a1a1b\n"))
    }

    @Test(arguments: [
        ("Desk", "desk", true), ("Desk", " De sk ", true), ("Desk", "De\u{200D}sk\u{FE0F}", true),
        ("Desk", "\u{202E}Desk", true), ("Caf\u{E9}", "Cafe\u{301}", true), ("Desk", "Desk2", false),
        ("Desk", "D\u{435}sk", false), ("", "  ", true),
    ])
    func `names are similar if they differ only in case, spaces and invisible characters`(
        _ first: String, _ second: String, _ areAlike: Bool
    ) {
        let names = [Sample.device(1): first, Sample.device(2): second]
        let expected = [Sample.device(1): [Sample.device(2)], Sample.device(2): [Sample.device(1)]]
        #expect(ConfusableNames.groups(names) == (areAlike ? expected : [:]))
    }

    // MARK: device rename

    @Test(arguments: ["Laptop", "1a1a1a1", "1A1A-1a1a"])
    func `a rename request has the full id`(_ word: String) throws {
        #expect(try run.run("device", "rename", word, "Old \u{1B}one", answer: Self.daemon()) == .done)
        let expected: JSONObject = ["device": .string(Self.laptop.id.hex), "name": "Old \u{1B}one"]
        #expect(run.daemon.parameters(of: "RenameDevice") == expected)
        #expect(run.output == "renamed Laptop (1a1a1a1) to Old \\u{1B}one\n")
    }

    @Test func `renaming is JSON`() throws {
        #expect(try run.run("--json", "device", "rename", "Phone", "P", answer: Self.daemon()) == .done)
        #expect(run.objects == [["version": 1, "renamed": .string(Self.phone.id.hex), "name": "P"]])
    }

    @Test func `a name or id that matches no device or several is refused with the candidates`() throws {
        var similar = Self.phone
        similar.id = try Self.similarID()
        let daemon = Self.daemon([Self.desk, Self.laptop, similar])
        #expect(try run.run("device", "rename", "1a1a", "x", answer: daemon) == .failed)
        #expect(run.diagnostics.contains("  it matches: Laptop (1a1a1a1a), Phone (1a1a1a1b)\n"))
        #expect(try run.run("device", "rename", "Tablet", "x", answer: daemon) == .failed)
        #expect(run.diagnostics.contains("no device is named 'Tablet'"))
        #expect(run.daemon.methods == ["ListDevices", "ListDevices"])
    }

    @Test(arguments: [["device", "remove", "--yes"], ["device", "rename"]])
    func `a name that this device shares with another one is refused with both ids`(_ words: [String]) throws {
        var other = Self.laptop
        other.name = "Desk"
        let daemon = Self.daemon([Self.desk, other, Self.phone])
        let operands = words + ["Desk"] + (words.last == "rename" ? ["x"] : [])
        #expect(try run.run(operands, answer: daemon) == .failed)
        #expect(run.diagnostics.contains("  it matches: Desk (1a1a1a1), Desk (3f3f3f3)\n"), "\(run.diagnostics)")
    }

    // MARK: account leave

    private static func leaving(told: [DeviceID]) -> (FakeDaemon.Call) -> Void {
        daemon { $0.reply(["told": .array(told.map { .string($0.hex) })]) }
    }

    @Test func `leaving asks first and lists the notified devices`() throws {
        run.typing = ["y"]
        #expect(try run.run("account", "leave", answer: Self.leaving(told: [Self.laptop.id])) == .done)
        #expect(
            run.diagnostics.contains(
                "Devices that remain: Laptop (1a1a1a1), Phone (2b2b2b2)\nLeave the account? [y/N] "))
        #expect(
            run.output == """
                left the account; this device has a new identity
                notified  Laptop (1a1a1a1)
                pending   Phone (2b2b2b2)

                """)
        #expect(run.diagnostics.contains("until they learn that it left"))
    }

    @Test func `any answer but yes cancels leaving`() throws {
        run.typing = [""]
        #expect(try run.run("account", "leave", answer: Self.leaving(told: [])) == .failed)
        #expect(run.daemon.methods == ["ListDevices"])
        #expect(run.diagnostics.contains("nothing was changed"))
    }

    @Test func `the last device is warned that the account will be deleted`() throws {
        run.typing = ["y"]
        let daemon = Self.daemon([Self.desk]) { $0.reply(["told": []]) }
        #expect(try run.run("account", "leave", answer: daemon) == .done)
        #expect(run.diagnostics.contains("the account will be deleted"))
        #expect(run.output == "left the account; this device has a new identity\n")
    }

    @Test func `a leave that cannot be stored must be repeated`() throws {
        let daemon = Self.daemon { $0.fail("dev.handoff1.Control.StorageFailed", ["message": "no space left"]) }
        #expect(try run.run("account", "leave", "--yes", answer: daemon) == .failed)
        #expect(run.diagnostics.contains("handoffctl: no space left\n"))
        #expect(run.diagnostics.contains("run handoffctl account leave again"))
    }

    @Test func `leaving without a terminal needs yes`() throws {
        #expect(try run.run("account", "leave", answer: Self.leaving(told: [])) == .wrongUsage)
        #expect(run.daemon.log.isEmpty)
        let told = [Self.laptop.id, Self.phone.id]
        let other = try CommandRun()
        #expect(try other.run("account", "leave", "--yes", "--json", answer: Self.leaving(told: told)) == .done)
        #expect(other.objects == [["version": 1, "told": .array(told.map { .string($0.hex) }), "waiting": []]])
        #expect(other.prompts.isEmpty)
    }

    // MARK: account rotate, account export --revoke

    @Test func `a new key is created`() throws {
        #expect(try run.run("account", "rotate") { $0.reply(["epoch": 7]) } == .done)
        #expect(run.output == "created a new account key: epoch 7\n")
        #expect(run.daemon.methods == ["RotateKey"])
        #expect(try run.run("account", "rotate", "--json") { $0.reply(["epoch": 8]) } == .done)
        #expect(run.objects == [["version": 1, "epoch": 8]])
    }

    @Test func `a ticket is revoked`() throws {
        #expect(try run.run("account", "export", "--revoke", "01-AB") { $0.reply() } == .done)
        #expect(run.daemon.parameters(of: "RevokeExport") == ["ticket": "01ab"])
        #expect(run.output == "revoked 01ab: the file can no longer be used to join\n")
        let status = try run.run("account", "export", "--revoke", "77") {
            $0.fail(ControlErrorName.noSuchTicket.rawValue, ["identifier": "77", "message": "there is none"])
        }
        #expect(status == .failed)
        #expect(
            run.diagnostics.contains("handoffctl: there is none\n  list the open ones with: handoffctl account show"))
    }
}
