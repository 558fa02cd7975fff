import HandoffControl
import HandoffJSON
import HandoffModel
import Testing

/// The selection of the activity and of the app, by whole daemons.
@Suite final class MatchingTests {
    private let fleet: Fleet
    private let desk: TestDevice
    private let couch: TestDevice

    init() throws {
        fleet = try Fleet()
        let devices = try fleet.account("desk", "couch")
        (desk, couch) = (devices[0], devices[1])
    }

    deinit {
        fleet.end()
    }

    private func awaitOffers(_ count: Int) throws {
        try fleet.poll("\(count) offers") { try couch.offers().count == count }
    }

    @Test func `without an offer, nothing can be continued`() throws {
        let refusal = try couch.continue(ContinueRequest(take: true)).refusal()
        #expect(refusal.name == ControlErrorName.nothingToContinue.rawValue)
        let published = try desk.publish(Note.activity("here"))
        try awaitOffers(1)
        let id = published.activity.hex
        let other = (id.hasPrefix("f") ? "0" : "f") + id.dropFirst().prefix(3)
        for request in [
            ContinueRequest(activity: other, take: true), ContinueRequest(type: "org.example.other", take: true),
            ContinueRequest(from: "train", take: true),
        ] {
            #expect(try couch.continue(request).refusal().name == ControlErrorName.nothingToContinue.rawValue)
        }
    }

    @Test func `without an account, nothing can be continued`() throws {
        let lone = try fleet.device("lone")
        let refusal = try lone.continue(ContinueRequest(take: true)).refusal()
        #expect(refusal.name == ControlErrorName.noAccount.rawValue)
    }

    @Test func `a prefix that matches several ids is ambiguous`() throws {
        // Of 17 random ids at least two begin with the same digit.
        let published = try (0..<17).map { try desk.publish(Note.activity("\($0)")) }
        try awaitOffers(17)
        let groups = Dictionary(grouping: published.map(\.activity.hex)) { String($0.prefix(1)) }
        let (prefix, ids) = try #require(groups.first { $0.value.count > 1 })

        let refusal = try couch.continue(ContinueRequest(activity: prefix, take: true)).refusal()

        #expect(refusal.name == ControlErrorName.ambiguousIdentifier.rawValue)
        #expect(Set(refusal.parameters["candidates"]?.array?.compactMap(\.string) ?? []) == Set(ids))
        let call = try couch.continue(ContinueRequest(activity: ids[0], take: true))
        _ = try call.result()
        guard case .continued(_, let content?, _, _, _) = try ContinueEvent(json: call.result()) else {
            throw UnexpectedEvent()
        }
        #expect(content.id.hex == ids[0])
    }

    struct Match: Sendable {
        let type: String
        var team: String?
        var handlerType: String
        var handlerTeam: String?
        let opens: Bool

        static let note = Note.type
        static let web = ActivityType.browsingWeb.text
        static let all = [
            Match(type: note, handlerType: note, opens: true),
            Match(type: note, handlerType: "org.example.notes", opens: false),
            Match(type: note, handlerType: "org.example.Note", opens: false),
            Match(type: note, team: "A", handlerType: note, handlerTeam: "A", opens: true),
            Match(type: note, team: "A", handlerType: note, handlerTeam: "B", opens: false),
            Match(type: note, team: "A", handlerType: note, opens: false),
            Match(type: note, handlerType: note, handlerTeam: "A", opens: false),
            Match(type: note, team: "\u{E9}", handlerType: note, handlerTeam: "e\u{301}", opens: false),
            Match(type: web, team: "A", handlerType: web, handlerTeam: "B", opens: true),
            Match(type: web, handlerType: web, handlerTeam: "B", opens: true),
        ]
    }

    @Test func `offers of teams that differ only in the composition of a letter open separately`() throws {
        let published = try ["\u{E9}", "e\u{301}"].map { team in
            var activity = ActivityDescription(type: Note.type)
            activity.team = team
            return try desk.publish(activity)
        }
        let handler = try couch.attach("Handler", team: "\u{E9}", types: Note.type)
        try awaitOffers(2)
        for offer in try couch.offers() {
            let isComposed = offer.team?.utf8.count == 2
            #expect(offer.opens.kind == (isComposed ? .app : .nothing), "\(isComposed)")
        }
        withExtendedLifetime((published, handler)) {}
    }

    @Test func `type and team must both match`() throws {
        for match in Match.all {
            var activity = ActivityDescription(type: match.type)
            activity.team = match.team
            let published = try desk.publish(activity)
            let handler = try couch.attach("Handler", team: match.handlerTeam, types: match.handlerType)
            try awaitOffers(1)
            let opens = try #require(try couch.offers().first?.opens)
            #expect(opens.kind == (match.opens ? .app : .nothing), "\(match)")
            let call = try couch.continue()
            if match.opens {
                let continuation = try handler.willContinue()
                _ = try handler.content(continuation)
                try handler.answer(continuation, handled: true)
                _ = try published.next()
            } else {
                let failure = try call.failure()
                #expect(failure.reason == "noHandler", "\(match)")
                #expect(failure.message.contains(match.type))
                #expect(handler.waiting == 0)
            }
            handler.crash()
            published.close()
            try awaitOffers(0)
        }
    }

    @Test func `types can change within a session, and nothing else can`() throws {
        _ = try desk.publish(Note.activity("wanted"))
        let viewer = try couch.attach("Viewer")
        let offer = try viewer.engage(Note.activity("viewed"))
        try awaitOffers(1)
        try fleet.poll("an offer of the app") { try desk.offers().map(\.id) == [offer] }
        #expect(try couch.offers().first?.opens.kind == .nothing)
        try viewer.declare(Note.type)
        #expect(try couch.offers().first?.opens.name == "Viewer")
        let call = try couch.continue()
        let continuation = try viewer.willContinue()
        // A running continuation is not affected.
        try viewer.declare("com.example.other")
        #expect(try couch.offers().first?.opens.kind == .nothing)
        _ = try viewer.content(continuation)
        try viewer.answer(continuation, handled: true)
        _ = try call.result()
        guard case .continued = try ContinueEvent(json: call.result()) else { throw UnexpectedEvent() }
        #expect(try desk.offers().map(\.id) == [offer])
    }

    @Test func `a declaration applies to a session and has a limit`() throws {
        let viewer = try couch.attach("Viewer", types: Note.type)
        let types = (0...256).map { JSON.string("com.example.type\($0)") }
        let parameters: JSONObject = ["session": .string(viewer.session), "types": .array(types)]
        let tooMany = try couch.open(AppMethod.declare.rawValue, parameters).refusal()
        #expect(tooMany.name == AppErrorName.limitExceeded.rawValue)
        _ = try desk.publish(Note.activity("wanted"))
        try awaitOffers(1)
        #expect(try couch.offers().first?.opens.name == "Viewer")
        let unknown = try couch.open(AppMethod.declare.rawValue, ["session": "none", "types": []]).refusal()
        #expect(unknown.name == AppErrorName.noSuchSession.rawValue)
    }

    @Test func `an activity of a version that the app does not accept is not sent`() throws {
        let editor = try desk.attach("Editor")
        _ = try editor.engage(Note.activity("new"))
        let viewer = try couch.attach("Viewer")
        try awaitOffers(1)
        for range in [VersionRange(minimum: AppVersion("2.2")), VersionRange(maximum: AppVersion("2.0"))] {
            try viewer.declare(Note.type, range)
            let call = try couch.continue()
            let continuation = try viewer.willContinue()
            let failure = try viewer.didFail(continuation)
            #expect(failure.code == 4608 && failure.reason == "otherVersion")
            #expect(
                failure.message.hasSuffix(
                    "the app on desk has version 2.1, but the app that continues the activity requires \(range)"))
            #expect(try call.failure() == failure)
            #expect(desk.log.contains { $0.contains("Not handed over") && $0.contains("version 2.1") })
        }
        try viewer.declare(Note.type, VersionRange(minimum: AppVersion("2.1"), maximum: AppVersion("2")))
        _ = try couch.continue()
        let continuation = try viewer.willContinue()
        #expect(try viewer.content(continuation).origin.appVersion == "2.1")
        try viewer.answer(continuation, handled: true)
        // A caller that receives the activity itself has declared no versions.
        let call = try couch.continue(ContinueRequest(take: true))
        _ = try call.result()
        guard case .continued = try ContinueEvent(json: call.result()) else { throw UnexpectedEvent() }
    }

    @Test func `an activity without a version is in no range`() throws {
        _ = try desk.publish(Note.activity("from a tool"))
        let viewer = try couch.attach("Viewer")
        try viewer.declare(Note.type, VersionRange(minimum: AppVersion("0")))
        try awaitOffers(1)
        let failure = try couch.continue().failure()
        #expect(failure.reason == "otherVersion" && failure.message.contains("reports no version"))
    }

    @Test func `of several handlers, the latest continues`() throws {
        _ = try desk.publish(Note.activity("wanted"))
        let first = try couch.attach("First", types: Note.type)
        let second = try couch.attach("Second", types: Note.type)
        try awaitOffers(1)
        _ = try couch.continue()
        let continuation = try second.willContinue()
        _ = try second.content(continuation)
        try second.answer(continuation, handled: true)
        second.crash()
        try fleet.poll("the second app has detached") { try couch.offers().first?.opens.name == "First" }
        _ = try couch.continue()
        _ = try first.willContinue()
    }

    @Test func `watchers are notified of what would open an offer`() throws {
        let watcher = try couch.watch()
        try watcher.ready()
        _ = try desk.publish(Note.activity("opens"))
        #expect(try watcher.added().opens.kind == .nothing)
        let viewer = try couch.attach("Viewer", types: Note.type)
        guard case .changed(let offer) = try watcher.next() else { throw UnexpectedEvent() }
        #expect(offer.opens == ControlOpens(kind: .app, name: "Viewer", reason: "it is running", app: "Viewer"))
        viewer.crash()
        guard case .changed(let after) = try watcher.next() else { throw UnexpectedEvent() }
        #expect(after.opens.kind == .nothing)
    }

    @Test func `the user specifies the device or the type`() throws {
        let train = try fleet.device("train")
        try train.importAccount(try desk.exportAccount())
        try fleet.settle([desk, couch, train])
        var map = ActivityDescription(type: "org.example.map")
        map.title = "Way home"
        let wanted = [try desk.publish(Note.activity("desk")), try train.publish(Note.activity("train"))]
        let mapped = try train.publish(map)
        try awaitOffers(3)
        let device = try train.status().device.hex
        for (request, id) in [
            (ContinueRequest(type: Note.type, from: "desk", take: true), wanted[0].activity),
            (ContinueRequest(type: Note.type, from: "train", take: true), wanted[1].activity),
            (ContinueRequest(type: Note.type, from: String(device.prefix(8)), take: true), wanted[1].activity),
            (ContinueRequest(type: "org.example.map", take: true), mapped.activity),
            (ContinueRequest(activity: wanted[0].activity.hex.uppercased(), take: true), wanted[0].activity),
        ] {
            let call = try couch.continue(request)
            _ = try call.result()
            guard case .continued(_, let content?, _, _, _) = try ContinueEvent(json: call.result()) else {
                throw UnexpectedEvent()
            }
            #expect(content.id == id)
        }
    }
}
