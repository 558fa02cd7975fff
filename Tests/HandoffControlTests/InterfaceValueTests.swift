import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import Testing

/// Compares the values with the interface files, which document the sockets.
struct InterfaceValueTests {
    /// A type that is sent over a socket.
    typealias CodableType = any (Codable & SendableMetatype).Type

    private static let control = HandoffInterfaces.control.map(InterfaceDefinition.init)
    private static let app = HandoffInterfaces.app.map(InterfaceDefinition.init)

    /// A text that is a valid id for fields that contain one.
    private static func text(_ field: String, _ object: String) -> String {
        let isDevice =
            ["device", "admittedBy", "confirmed", "waiting", "to"].contains(field)
            || field == "id" && object.hasSuffix("Device")
        return switch field {
        case "kind", "deviceKind": "laptop"
        case "via": "mdns"
        case "minimumVersion", "maximumVersion": "2.10"
        default: String(repeating: "0a", count: isDevice ? 32 : 16)
        }
    }

    private static func differences(_ type: any Codable.Type, _ object: String, _ file: InterfaceDefinition?)
        -> [String]
    {
        file?.differences(of: type, from: object, text: { text($0, object) }) ?? ["no file"]
    }

    private static let toolValues: [(object: String, type: CodableType)] = [
        ("Device", ControlDevice.self), ("PairingDevice", PairingDevice.self),
        ("PairingWindow", PairingWindowDescription.self), ("Peer", ControlPeer.self), ("Opens", ControlOpens.self),
        ("AppChoice", ControlOpens.Choice.self), ("Missing", ControlMissing.self),
        ("App", ControlApp.self), ("Yield", ControlApp.Yield.self), ("OfferedActivity", OfferedActivity.self),
        ("Kept", ControlKept.self),
        ("PublishedActivity", PublishedActivity.self), ("Ticket", ControlTicket.self), ("Origin", Origin.self),
        ("Hold", ControlRestriction.self), ("Network", ControlNetwork.self), ("ListNetworks)", ControlNetworks.self),
        ("TrustNetwork)", ControlNetworks.self), ("ForgetNetwork)", ControlNetworks.self),
        ("MemberHealth", ControlDiagnosis.Member.self), ("Notifications", ControlNotifications.self),
        ("NotifiedOffer", ControlNotifications.Offer.self), ("LogEntry", ControlLogEntry.self),
        ("GetStatus)", ControlStatus.self), ("SetSwitches(", SetSwitchesRequest.self),
        ("SetSwitches)", ControlSwitches.self), ("Diagnose)", ControlDiagnosis.self),
        ("FollowChanges)", ControlChanges.self), ("ReadLog)", ControlLogPage.self),
        ("FollowLog)", ControlLogEntry.self), ("GetAccount)", ControlAccount.self), ("Join(", JoinRequest.self),
        ("RemoveDevice)", RemovalEvent.self), ("Continue(", ContinueRequest.self),
        ("ContinuationFailed", ContinuationFailure.self), ("SwitchedOff", ControlRestriction.self),
        ("Kept", ControlKept.self), ("Lineage", Lineage.self), ("NewerState", NewerState.self),
        ("Continuation", PublishedActivity.Continuation.self),
    ]

    private static let appValues: [(object: String, type: CodableType)] = [
        ("ActivityDescription", ActivityDescription.self), ("ActivityChange", ActivityChange.self),
        ("Origin", Origin.self), ("Kept", ControlKept.self), ("Failure", HandoffFailure.self),
        ("Attach(", AttachRequest.self),
        ("Declare(", DeclareRequest.self), ("TypeVersions", TypeVersions.self), ("PassFile(", PassFileRequest.self),
        ("ReportReceived(", ReportReceivedRequest.self), ("PassFile)", PassFileReply.self),
        ("KeepContent(", KeepContentRequest.self),
        ("ReportProgress(", ReportProgressRequest.self), ("ReportProgress)", ReportProgressReply.self),
        ("ShareMemory(", ShareMemoryRequest.self), ("ShareMemory)", ShareMemoryReply.self),
        ("AwaitStream)", AwaitStreamReply.self), ("StreamEnded", StreamEndedError.self),
        ("StreamFailed", HandoffFailure.self), ("Kept", ControlKept.self), ("Lineage", Lineage.self),
    ]

    @Test(arguments: toolValues)
    func `a value for tools has the fields of the interface file`(object: String, type: CodableType) {
        #expect(Self.differences(type, object, Self.control) == [])
    }

    @Test(arguments: appValues)
    func `a value for apps has the fields of the interface file`(object: String, type: CodableType) {
        #expect(Self.differences(type, object, Self.app) == [])
    }

    @Test func `the words of replies are those of the interface file`() throws {
        let control = try #require(Self.control)
        func words(_ object: String, _ field: String) -> [String] {
            let kind = control.fields(of: object).first { $0.name == field }.map { control.resolved($0.kind) }
            if case .words(let words) = kind { return words }
            if case .list(let element) = kind, case .words(let words) = control.resolved(element) { return words }
            return []
        }
        #expect(words("App", "source") == ControlApp.Source.allCases.map(\.rawValue))
        #expect(words("Opens", "kind") == ControlOpens.Kind.allCases.map(\.rawValue))
        #expect(words("Missing", "kind") == ControlMissing.Kind.allCases.map(\.rawValue))
        #expect(words("Hold", "direction") == SwitchDirection.allCases.map(\.rawValue))
        #expect(words("Hold", "by") == ControlRestriction.Author.allCases.map(\.rawValue))
        #expect(words("GetStatus)", "standing") == Standing.allCases.map(\.rawValue))
        #expect(words("FollowChanges)", "changed") == ControlChanges.Part.allCases.map(\.rawValue))
        #expect(words("Notifications", "state") == ControlNotifications.State.allCases.map(\.rawValue))
        #expect(
            words("NotifiedOffer", "outcome") == ControlNotifications.Outcome.allCases.map(\.rawValue))
        #expect(words("LogEntry", "event") == ControlLogEntry.Event.allCases.map(\.rawValue))
        #expect(words("LogEntry", "direction") == ControlLogEntry.Direction.allCases.map(\.rawValue))
        #expect(words("RemoveDevice)", "event") == RemovalEvent.Kind.allCases.map(\.rawValue))
    }

    @Test func `an unknown word of a reply is kept`() throws {
        let entry: JSONObject = [
            "number": 1, "time": 2.5, "event": "remembered", "direction": "in", "type": nil,
            "device": .string(String(repeating: "0a", count: 32)), "deviceName": "M", "app": nil, "outcome": "o",
            "count": 1, "sent": nil, "received": nil,
        ]
        let read = try ControlLogEntry(json: entry)
        #expect(read.json == entry)
        #expect(read.event.known == nil && read.direction == .in)
    }

    /// The types of the files, and parameters, results and errors with more than two fields. Shorter
    /// ones are read by name, in the method that handles them. Events are compared below.
    @Test func `each type of an interface file is compared with a value`() throws {
        let events: Set = ["ContinuedActivity", "Attach)", "Publish)", "Pair)", "Join)", "Watch)", "Continue)"]
        // Read by name, since their fields depend on each other or are values of their own.
        let byName: Set = [
            "Update(", "AnswerSave(", "AnswerContinue(", "Invalidate(", "OpenStream(", "InvalidActivity",
            "AmbiguousIdentifier",
        ]
        for (file, values) in [(Self.control, Self.toolValues), (Self.app, Self.appValues)] {
            let file = try #require(file)
            let isShort = { (name: String) in
                (name.hasSuffix("(") || name.hasSuffix(")") || Self.errors.contains(name))
                    && file.fields(of: name).count <= 2
            }
            let missing = Set(file.names).subtracting(values.map(\.object)).subtracting(events).subtracting(byName)
            #expect(missing.filter { !isShort($0) } == [])
        }
    }

    private static let errors = Set(
        (AppErrorName.allCases.map(\.rawValue) + ControlErrorName.allCases.map(\.rawValue)).compactMap {
            $0.split(separator: ".").last.map(String.init)
        })

    @Test func `an object that is missing in the file is detected`() {
        #expect(Self.differences(ControlDevice.self, "Peer", Self.control) != [])
        #expect(Self.differences(PassFileReply.self, "PassFile(", Self.app) != [])
        #expect(Self.differences(ControlPeer.self, "Nothing", Self.control) == ["the file has no Nothing"])
    }

    /// Includes `ContinuedActivity`, which has a device that is not decoded.
    @Test func `events are encoded as in the interface files`() throws {
        let control = try #require(Self.control)
        let app = try #require(Self.app)
        let device = PairingDevice(id: try Sample.device(), name: "M")
        let window = PairingWindowDescription(code: nil, link: "l", addresses: ["h:1"], seconds: 9)
        for event in [.opened(window), .wrongCode(guessesLeft: 1), .codeEnded, .confirm(device), .joined(device)]
            as [PairEvent]
        {
            #expect(control.differences(in: event.json, from: "Pair)") == [])
        }
        let account = AccountID(checked: Array(repeating: 0x3D, count: 16))
        for event in [.looking, .calling(address: "h:1"), .waiting(device), .joined(account, by: device)]
            as [JoinEvent]
        {
            #expect(control.differences(in: event.json, from: "Join)") == [])
        }
        for event in [.added(try Sample.offered()), .ready] as [WatchEvent] {
            #expect(control.differences(in: event.json, from: "Watch)") == [])
        }
        for event in try Sample.continueEvents() {
            #expect(control.differences(in: event.json, from: "Continue)") == [])
        }
        for event in try Sample.appEvents() {
            let call = if case .published = event { "Publish)" } else { "Attach)" }
            #expect(app.differences(in: event.json, from: call) == [])
        }
    }
}
