import HandoffControl
import HandoffJSON
import HandoffModel
import Testing

/// One value of each kind, with all fields set.
enum Sample {
    static func device() throws -> DeviceID { try #require(DeviceID(hex: String(repeating: "0a", count: 32))) }
    static func activity() throws -> ActivityID { try #require(ActivityID(hex: String(repeating: "1b", count: 16))) }
    static func continuation() throws -> ContinuationID {
        try #require(ContinuationID(hex: String(repeating: "2c", count: 16)))
    }
    static func stream() throws -> StreamID { try #require(StreamID(hex: String(repeating: "4e", count: 16))) }
    static func type() throws -> ActivityType { try #require(ActivityType("com.example.edit")) }

    static func origin() throws -> Origin {
        Origin(device: try device(), deviceName: "Mac", deviceKind: .laptop, app: "com.example", appVersion: "1")
    }

    static func continued() throws -> ContinuedActivity {
        let content = ActivityContent(
            type: try type(), title: "T", userInfo: ["n": 1], webpageURL: "https://a", team: "X",
            requiredUserInfoKeys: ["n"], supportsStreams: true)
        return ContinuedActivity(id: try activity(), content: content, origin: try origin())
    }

    static func offered() throws -> OfferedActivity {
        OfferedActivity(
            id: try activity(), type: try type(), title: "T", team: nil, device: try device(), deviceName: "Mac",
            deviceKind: .laptop, streams: true, hasWebpageURL: true, age: 3, opens: ControlOpens(kind: .app, name: "A"))
    }

    static func appEvents() throws -> [AppEvent] {
        let origin = try origin()
        let activity = try activity()
        let continuation = try continuation()
        let type = try type()
        return [
            .attached(session: "s"), .published(activity, advice: nil), .published(activity, advice: "a"),
            .save(activity), .saved(activity), .willContinue(continuation, type, origin),
            .continue(continuation, try continued()),
            .didFail(continuation, type, .timedOut(device: "Mac")), .continued(activity, by: origin),
            .stream(activity, try stream(), from: origin), .withdrawn(activity),
            .stream(activity, try stream(), from: origin, resource: StreamResource("document/3")),
        ]
    }

    static func continueEvents() throws -> [ContinueEvent] {
        let type = try type()
        return [
            .willContinue(type), .continued(type, try continued(), nil, continuation: nil),
            .continued(type, try continued(), nil, continuation: try continuation()),
            .continued(type, nil, ControlOpens(kind: .web, name: "Browser"), continuation: nil),
            .continued(
                type, nil, ControlOpens(kind: .app, name: "A"), continuation: nil,
                missing: [ControlMissing(.folder, name: "notes")]),
        ]
    }

    static func status() throws -> ControlStatus {
        ControlStatus(
            daemon: "1", device: try device(), name: "Mac", kind: .desktop,
            account: AccountID(hex: String(repeating: "3d", count: 16)), standing: .member, epoch: 4,
            discovery: "avahi",
            discoveryState: "running", port: 24863,
            peers: [
                ControlPeer(device: nil, name: nil, address: "h:1", via: .static, connected: false, activities: 0),
                ControlPeer(device: try device(), name: "M", address: nil, via: .mdns, connected: true, activities: 2),
            ],
            published: 1, offered: 2, tickets: [ControlTicket(id: "ab", device: try device(), mine: true)],
            warnings: ["careful"])
    }
}

/// Encodes and parses the object, as on a socket.
private func crossed(_ object: JSONObject) throws -> JSONObject {
    try #require(JSON(parsing: object.encoded(), limits: JSONLimits(bytes: 1 << 20)).object)
}

/// Removes or changes each field in turn. Reading must fail with its name, unless the field may be
/// absent.
private func expectEveryField(
    of object: JSONObject, optional: Set<String>, read: (JSONObject) throws(VarlinkError) -> Void
) {
    for key in object.keys {
        for change in [nil, .null, true, .array([.array([])])] as [JSON?] where change != object[key] {
            var changed = object
            changed[key] = change
            let isAbsent = change == nil || change == .null
            do throws(VarlinkError) {
                try read(changed)
                #expect(isAbsent && optional.contains(key) || object[key]?.bool == false, "\(key) as \(change ?? nil)")
            } catch {
                #expect(!(isAbsent && optional.contains(key)), "\(key) as \(change ?? nil)")
                guard case .invalidParameter(let path) = error else {
                    Issue.record("\(error)")
                    continue
                }
                #expect(path.hasPrefix(key))
            }
        }
    }
}

struct ControlValueTests {
    @Test func `encoding preserves a status`() throws {
        let status = try Sample.status()
        #expect(try ControlStatus(json: crossed(status.json)) == status)
        var bare = status
        bare.account = nil
        bare.epoch = nil
        #expect(try ControlStatus(json: crossed(bare.json)) == bare)
        #expect(bare.json["account"] == .null)
    }

    @Test func `encoding preserves account, device, ticket and opens`() throws {
        let account = ControlAccount(account: nil, epoch: nil, devices: 0, tickets: [])
        #expect(try ControlAccount(json: crossed(account.json)) == account)
        let device = ControlDevice(
            id: try Sample.device(), name: "M", kind: .phone, isSelf: true, online: false, heard: 3, asleepSince: 12.5)
        #expect(try ControlDevice(json: crossed(device.json)) == device)
        for opens in [
            ControlOpens(kind: .app, name: "A"), ControlOpens(kind: .web), ControlOpens(kind: .nothing, reason: "r"),
        ] {
            #expect(try ControlOpens(json: crossed(opens.json)) == opens)
        }
    }

    @Test func `encoding preserves every watch event`() throws {
        let offered = try Sample.offered()
        for event in [.added(offered), .changed(offered), .removed(offered), .ready] as [WatchEvent] {
            #expect(try WatchEvent(json: crossed(event.json)) == event)
        }
    }

    @Test func `encoding preserves every app event`() throws {
        for event in try Sample.appEvents() {
            #expect(try AppEvent(json: crossed(event.json)) == event)
        }
    }

    @Test func `encoding preserves every continue event`() throws {
        for event in try Sample.continueEvents() {
            #expect(try ContinueEvent(json: crossed(event.json)) == event)
        }
    }

    @Test func `encoding preserves requests`() throws {
        let attach = AttachRequest(app: "a", version: "1", team: "t", types: [try Sample.type()])
        #expect(try AttachRequest(json: crossed(attach.json)) == attach)
        let versions = [TypeVersions(type: try Sample.type(), VersionRange(minimum: AppVersion("2.10")))]
        let declare = DeclareRequest(session: "s", types: [try Sample.type()], versions: versions)
        #expect(try DeclareRequest(json: crossed(declare.json)) == declare)
        let next = ContinueRequest(activity: "ab", type: "t", from: "Mac", take: true, timeout: 2)
        #expect(try ContinueRequest(json: crossed(next.json)) == next)
        #expect(try ContinueRequest(json: [:]) == ContinueRequest())
        #expect(try ContinueRequest(json: ["timeout": 5]).timeout == 5)
        for both: JSONObject in [
            ["web": true, "app": "a"], ["web": true, "take": true], ["app": "a", "take": true],
        ] {
            #expect(throws: VarlinkError.self) { try ContinueRequest(json: both) }
        }
    }

    @Test func `missing fields and fields of another type are reported by name`() throws {
        expectEveryField(of: try Sample.status().json, optional: ["account", "standing", "epoch", "unansweredSince"]) {
            (json) throws(VarlinkError) in _ = try ControlStatus(json: json)
        }
        expectEveryField(of: try Sample.offered().json, optional: ["title", "team", "webpageURL", "missing", "kept"]) {
            (json) throws(VarlinkError) in _ = try OfferedActivity(json: json)
        }
        expectEveryField(of: try Sample.origin().json, optional: ["app", "appVersion"]) {
            (json) throws(VarlinkError) in _ = try Origin(json: json)
        }
    }

    @Test(
        arguments: [
            (["event": "attached"], "session"), (["event": [:]], "event"), ([:], "event"),
            (["event": "save", "activity": "xyz"], "activity"),
            (["event": "willContinue", "continuation": "00", "type": "t"], "continuation"),
            (
                [
                    "event": "didFail", "continuation": .string(String(repeating: "0", count: 32)), "type": "t",
                    "failure": [:],
                ], "failure.code"
            ),
        ] as [(JSONObject, String)])
    func `the path of an invalid field is complete`(json: JSONObject, path: String) {
        #expect(throws: VarlinkError.invalidParameter(path)) { try AppEvent(json: json) }
    }

    @Test func `an unknown event is distinguished from an invalid one`() {
        let json: JSONObject = ["event": "other"]
        let unknown = VarlinkError.unknownEvent("other")
        #expect(throws: unknown) { try AppEvent(json: json) }
        #expect(throws: unknown) { try PairEvent(json: json) }
        #expect(throws: unknown) { try JoinEvent(json: json) }
        #expect(throws: unknown) { try WatchEvent(json: json) }
        #expect(throws: unknown) { try ContinueEvent(json: json) }
    }

    @Test(
        arguments: [
            (["types": []], "app"), (["app": "", "types": []], "app"), (["app": "a"], "types"),
            (["app": "a", "types": ["ok", "not ok"]], "types[1]"), (["app": "a", "types": ["ok", 1]], "types[1]"),
            (["app": .string(String(repeating: "a", count: 256)), "types": []], "app"),
            (["app": "a", "version": 1, "types": []], "version"),
            (
                ["app": "a", "types": [], "versions": [["type": "t", "minimumVersion": "2.x"]]],
                "versions[0].minimumVersion"
            ),
        ] as [(JSONObject, String)])
    func `an attachment that breaks a rule is rejected`(json: JSONObject, path: String) {
        #expect(throws: VarlinkError.invalidParameter(path)) { try AttachRequest(json: json) }
    }

    @Test(arguments: [0, -1, .infinity, .nan] as [Double])
    func `a timeout is positive`(timeout: Double) {
        #expect(throws: VarlinkError.invalidParameter("timeout")) {
            try ContinueRequest(json: ["timeout": .real(timeout)])
        }
    }

    @Test func `numbers out of range are rejected`() throws {
        var status = try Sample.status().json
        status["port"] = 65_536
        #expect(throws: VarlinkError.invalidParameter("port")) { try ControlStatus(json: status) }
        status["port"] = 1
        status["epoch"] = -1
        #expect(throws: VarlinkError.invalidParameter("epoch")) { try ControlStatus(json: status) }
    }
}

struct ActivityDescriptionTests {
    @Test func `encoding preserves a description and a change`() throws {
        var description = ActivityDescription(type: "t")
        #expect(try ActivityDescription(json: crossed(description.json)) == description)
        description.title = "T"
        description.userInfo = ["n": 1.0]
        description.webpageURL = "https://a"
        description.team = "X"
        description.requiredUserInfoKeys = ["n"]
        description.supportsContinuationStreams = true
        description.isEligibleForHandoff = false
        description.needsSave = true
        description.expirationDate = 5
        description.targetContentIdentifier = "chapter/3"
        #expect(try ActivityDescription(json: crossed(description.json)) == description)
        let content = try description.content()
        #expect(content.expiration == 5)
        #expect(!content.isEligibleForHandoff)
        #expect(content.supportsStreams)
        var change = ActivityChange()
        #expect(try ActivityChange(json: crossed(change.json)) == change)
        #expect(change.applied(to: content) == content)
        change.title = ""
        change.webpageURL = ""
        change.userInfo = [:]
        change.needsSave = false
        change.isEligibleForHandoff = true
        change.expires = false
        #expect(try ActivityChange(json: crossed(change.json)) == change)
        let changed = change.applied(to: content)
        #expect(changed.title == nil)
        #expect(changed.webpageURL == nil)
        #expect(changed.userInfo == [:])
        #expect(changed.isEligibleForHandoff)
        #expect(changed.team == "X" && changed.expiration == nil && changed.targetContentIdentifier == "chapter/3")
        #expect(changed.requiredUserInfoKeys == ["n"])
    }

    @Test func `absent fields have Apple's defaults, and the team is that of the session`() throws {
        let content = try ActivityDescription(type: "t").content(sessionTeam: "X")
        #expect(content.isEligibleForHandoff)
        #expect(!content.supportsStreams)
        #expect(content.team == "X")
        #expect(content.userInfo == [:])
        #expect(throws: ActivityError.self) { try ActivityDescription(type: "no type").content() }
    }
}
