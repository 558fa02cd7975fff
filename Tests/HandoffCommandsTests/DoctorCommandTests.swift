import HandoffCommands
import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import Testing

/// Tests `doctor` with a daemon that does not answer all requests. The machine is the real one.
@Suite struct DoctorCommandTests {
    private let run: CommandRun

    init() throws {
        run = try CommandRun()
    }

    private static let status = ControlStatus(
        daemon: "handoffd/\(ProgramVersion.number)", device: Sample.device(0x3F), name: "desk", kind: .desktop,
        account: Sample.account, epoch: 1, discovery: "avahi", discoveryState: "running", port: 24_863, peers: [],
        published: 0, offered: 0, tickets: [], warnings: [])

    /// Returns the check of a daemon that reports its status and handles one other request as
    /// given.
    private func daemon(_ treatment: (method: String, how: (FakeDaemon.Call) -> Void)) throws -> JSONObject {
        let ended = try run.run("--json", "doctor") { call in
            switch call.member {
            case "GetStatus": call.reply(Self.status.json)
            case treatment.method: treatment.how(call)
            case "ListApps": call.reply(["apps": .array([])])
            default: call.fail("org.varlink.service.MethodNotFound", ["method": .string(call.method)])
            }
        }
        let check = try #require(run.objects.first { $0["check"] == "daemon" })
        if check["state"] == "problem" { #expect(ended == .failed) }
        return check
    }

    @Test(arguments: ["Diagnose", "ListApps"]) func `a daemon that exits during a request is a problem`(
        _ method: String
    ) throws {
        let check = try daemon((method, { $0.crash() }))
        #expect(check["state"] == "problem" && check["remedy"]?.string?.contains("journalctl") == true)
        #expect(check["message"]?.string?.contains("closed the connection") == true)
    }

    @Test(arguments: ["Diagnose", "ListApps"])
    func `a daemon that refuses a request is a problem`(_ method: String) throws {
        let check = try daemon((method, { $0.fail("dev.handoff1.Failed", ["message": "no memory"]) }))
        #expect(check["state"] == "problem" && check["message"]?.string?.contains("no memory") == true)
    }

    @Test(arguments: ["Diagnose", "ListApps"]) func `an invalid reply is a problem`(_ method: String) throws {
        #expect(try daemon((method, { $0.reply(["apps": "none"]) }))["state"] == "problem")
    }

    @Test(arguments: ["Diagnose", "ListApps"])
    func `an older daemon without a method is not a problem`(_ method: String) throws {
        for error in ["MethodNotFound", "MethodNotImplemented", "InterfaceNotFound"] {
            let check = try DoctorCommandTests().daemon((method, { $0.fail("org.varlink.service.\(error)") }))
            #expect(check["state"] == "ok")
        }
    }
}
