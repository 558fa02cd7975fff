import HandoffControl
import HandoffDaemon
import HandoffJSON
import HandoffModel
import Testing

/// Successful continuations between two whole daemons.
@Suite final class ContinuingTests {
    private let fleet: Fleet
    private let desk: TestDevice
    private let couch: TestDevice

    init() throws {
        fleet = try Fleet()
        // Long enough for the steps of a test before an app answers.
        let devices = try fleet.account("desk", "couch") { $0.configuration.saveAnswer = .seconds(10) }
        (desk, couch) = (devices[0], devices[1])
    }

    deinit {
        fleet.end()
    }

    /// Waits until the couch has this many offers.
    private func awaitOffers(_ count: Int) throws {
        try fleet.poll("\(count) offers") { try couch.offers().count == count }
    }

    @Test func `every type of user info arrives equal`() throws {
        let values: [(UserInfoValue, UserInfoValue)] = [
            (.string("null"), .null),
            (.string("true"), .bool(true)),
            (.string("small"), .integer(.min)),
            (.string("large"), .integer(.max)),
            (.string("huge"), .unsigned(.max)),
            (.string("whole"), .double(3)),
            (.string("fraction"), .double(0.1)),
            (.string("nan"), .double(.nan)),
            (.string("infinite"), .double(-.infinity)),
            (.string("negative zero"), .double(-0.0)),
            (.string("text"), .string("gr\u{FC}n \u{0} \u{1F6CB}")),
            (.string("gru\u{308}n"), .string("decomposed")),
            (.string("gr\u{FC}n"), .string("composed")),
            (.string("data"), .data(Array(0...255))),
            (.string("date"), .date(-0.25)),
            (.string("url"), .url("https://example.org/a?b=c#d")),
            (.string("uuid"), .uuid(Array(1...16))),
            (.string("array"), .array([.integer(1), .array([]), .null])),
            (.string("set"), .set([.integer(1), .double(1), .string("1")])),
            (.integer(7), .string("a key that is no string")),
            (.string("$dict"), .dictionary([(key: .string("$data"), value: .string("not data"))])),
        ]
        let sent = UserInfoValue.dictionary(values.map { (key: $0.0, value: $0.1) })
        var activity = ActivityDescription(type: Note.type)
        guard case .object(let userInfo) = sent.tagged() else { throw UnexpectedEvent() }
        activity.userInfo = userInfo
        activity.title = "T\u{EF}tle \u{202E}"
        activity.webpageURL = "https://example.org/note"
        activity.requiredUserInfoKeys = ["text", "date"]
        activity.supportsContinuationStreams = true
        activity.targetContentIdentifier = "note/7"
        _ = try desk.publish(activity)
        try awaitOffers(1)

        let call = try couch.continue(ContinueRequest(take: true))
        #expect(try ContinueEvent(json: call.result()) == .willContinue(try #require(ActivityType(Note.type))))
        guard case .continued(_, let content?, nil, _, _) = try ContinueEvent(json: call.result()) else {
            throw UnexpectedEvent()
        }

        #expect(content.userInfo == userInfo)
        #expect(JSON.object(content.userInfo).encoded() == JSON.object(userInfo).encoded())
        #expect(try UserInfoValue(tagged: .object(content.userInfo)) == sent)
        #expect(content.title == activity.title)
        #expect(content.webpageURL == activity.webpageURL)
        #expect(content.requiredUserInfoKeys == ["text", "date"])
        #expect(content.streams && content.targetContentIdentifier == "note/7")
        #expect(content.origin.deviceName == "desk")
    }

    @Test func `the handler is notified before the data arrives and the origin afterwards`() throws {
        let editor = try desk.attach("Editor")
        let id = try editor.engageInUnsaved("old")
        let viewer = try couch.attach("Viewer", types: Note.type)
        try awaitOffers(1)
        let call = try couch.continue()

        // The owner has not answered yet, so the data has not arrived.
        #expect(try editor.save() == id)
        let continuation = try viewer.willContinue()
        #expect(viewer.waiting == 0)
        #expect(try ContinueEvent(json: call.result()) == .willContinue(try #require(ActivityType(Note.type))))

        try editor.call(.answerSave, id, change: Note.change("new"))
        #expect(try editor.next() == .saved(id))
        let content = try viewer.content(continuation)
        #expect(content.userInfo == Note.userInfo("new"))
        #expect(content.origin.app == "Editor")
        #expect(content.origin.appVersion == "2.1")
        #expect(call.waiting == 0)
        #expect(editor.waiting == 0)

        try viewer.answer(continuation, handled: true)
        let opens = ControlOpens(kind: .app, name: "Viewer")
        let type = try #require(ActivityType(Note.type))
        let end = ContinueEvent.continued(type, content, opens, continuation: nil, missing: [])
        #expect(try ContinueEvent(json: call.result()) == end)
        guard case .continued(id, let by, nil) = try editor.next() else { throw UnexpectedEvent() }
        #expect(by.deviceName == "couch")
        #expect(try by.device == couch.status().device)
        #expect(viewer.waiting == 0)
    }

    @Test func `an activity without a required key is not handed over, and its origin is warned`() throws {
        var activity = Note.activity("incomplete")
        activity.requiredUserInfoKeys = ["chapter"]
        let published = try desk.publish(activity)
        #expect(published.advice == "no device can continue it: its userInfo lacks chapter")
        let viewer = try couch.attach("Viewer", types: Note.type)
        try awaitOffers(1)
        let failures = [
            try couch.continue().failure(), try couch.continue(ContinueRequest(take: true)).failure(),
        ]
        for failure in failures {
            #expect(failure.code == 4608 && failure.reason == "requiredKeysMissing")
            #expect(failure.message.contains("desk") && failure.message.hasSuffix("its userInfo lacks chapter"))
        }
        let continuation = try viewer.willContinue()
        #expect(try viewer.didFail(continuation) == failures[0])
        #expect(published.waiting == 0)
    }

    @Test func `an app may add required keys when it saves`() throws {
        let editor = try desk.attach("Editor")
        var activity = Note.activity("begun")
        activity.requiredUserInfoKeys = ["chapter"]
        let id = try editor.publish(activity)
        var change = ActivityChange()
        change.userInfo = ["chapter": 4]
        var parameters: JSONObject = [
            "session": .string(editor.session), "activity": .string(id.hex), "change": .object(change.json),
        ]
        #expect(try desk.open(AppMethod.answerSave.rawValue, parameters).result()["advice"] == .null)
        change.userInfo = [:]
        parameters["change"] = .object(change.json)
        let incomplete = try desk.open(AppMethod.answerSave.rawValue, parameters).result()
        #expect(incomplete["advice"] == "no device can continue it: its userInfo lacks chapter")
    }

    @Test func `the advice refers to the size that is sent`() throws {
        let editor = try desk.attach("Editor")
        var activity = Note.activity("")
        let empty = try activity.content().encodedPayload().encodedCount
        activity.userInfo = Note.userInfo(String(repeating: "x", count: desk.configuration.payloadLimit - empty))
        let reply = try desk.open(
            AppMethod.publish.rawValue, ["session": .string(editor.session), "activity": .object(activity.json)]
        ).result()
        guard case .published(let id, let advice) = try AppEvent(json: reply) else { throw UnexpectedEvent() }
        #expect(advice?.contains("no other device can continue it (error 4611)") ?? false, "\(advice ?? "none")")
        try editor.call(.becomeCurrent, id)
        try awaitOffers(1)
        #expect(try couch.continue(ContinueRequest(take: true)).failure().reason == "tooLarge")
    }

    @Test func `an answer counts once`() throws {
        _ = try desk.publish(Note.activity("once"))
        let viewer = try couch.attach("Viewer", types: Note.type)
        try awaitOffers(1)
        let call = try couch.continue()
        let continuation = try viewer.willContinue()
        _ = try viewer.content(continuation)
        let stranger = try couch.attach("Stranger")
        #expect(throws: OpenCall.Refused.self) { try stranger.answer(continuation, handled: false) }
        try viewer.answer(continuation, handled: true)
        #expect(throws: OpenCall.Refused.self) { try viewer.answer(continuation, handled: false) }
        _ = try call.result()
        guard case .continued = try ContinueEvent(json: call.result()) else { throw UnexpectedEvent() }
    }

    @Test func `one activity can be continued repeatedly`() throws {
        let published = try desk.publish(Note.activity("again"))
        try awaitOffers(1)
        for _ in 0..<3 {
            let call = try couch.continue(ContinueRequest(take: true))
            _ = try call.result()
            guard case .continued(_, .some, _, _, _) = try ContinueEvent(json: call.result()) else {
                throw UnexpectedEvent()
            }
            guard case .continued(published.activity, _, nil) = try published.next() else { throw UnexpectedEvent() }
        }
    }

    @Test(arguments: [AppMethod.resignCurrent, .becomeCurrent])
    func `the owner is notified although its offer has ended meanwhile`(_ meanwhile: AppMethod) throws {
        let editor = try desk.attach("Editor")
        let id = try editor.engage(Note.activity("first"))
        let viewer = try couch.attach("Viewer", types: Note.type)
        try awaitOffers(1)
        let call = try couch.continue()
        let continuation = try viewer.willContinue()
        _ = try viewer.content(continuation)
        try editor.call(.resignCurrent, id)
        if meanwhile == .becomeCurrent { try editor.call(.becomeCurrent, id) }

        try viewer.answer(continuation, handled: true)
        _ = try call.result()
        _ = try call.result()
        guard case .continued(id, let by, nil) = try editor.next() else { throw UnexpectedEvent() }
        #expect(by.deviceName == "couch")
    }

    @Test func `an owner without changes receives no save request`() throws {
        let editor = try desk.attach("Editor")
        let id = try editor.engage(Note.activity("saved"))
        try awaitOffers(1)
        let call = try couch.continue(ContinueRequest(take: true))
        _ = try call.result()
        guard case .continued(_, let content?, _, _, _) = try ContinueEvent(json: call.result()) else {
            throw UnexpectedEvent()
        }
        #expect(content.userInfo == Note.userInfo("saved"))
        guard case .continued(id, _, nil) = try editor.next() else { throw UnexpectedEvent() }
    }

    @Test func `an owner that does not answer delays a continuation only briefly`() throws {
        let editor = try desk.attach("Editor")
        let id = try editor.engageInUnsaved("last saved")
        try awaitOffers(1)
        let call = try couch.continue(ContinueRequest(take: true))
        _ = try call.result()
        #expect(try editor.save() == id)

        fleet.pass(desk.configuration.saveAnswer)

        guard case .continued(_, let content?, _, _, _) = try ContinueEvent(json: call.result()) else {
            throw UnexpectedEvent()
        }
        #expect(content.userInfo == Note.userInfo("last saved"))
    }

    @Test func `a second device gets the same save as the first`() throws {
        let train = try fleet.device("train")
        try train.importAccount(try desk.exportAccount())
        try fleet.settle([desk, couch, train])
        let editor = try desk.attach("Editor")
        let id = try editor.engageInUnsaved("old")
        try fleet.poll("both have the offer") { try couch.offers().count == 1 && train.offers().count == 1 }
        let calls = [
            try couch.continue(ContinueRequest(take: true)), try train.continue(ContinueRequest(take: true)),
        ]
        #expect(try editor.save() == id)
        try editor.call(.answerSave, id, change: Note.change("new"))
        for call in calls {
            _ = try call.result()
            guard case .continued(_, let content?, _, _, _) = try ContinueEvent(json: call.result()) else {
                throw UnexpectedEvent()
            }
            #expect(content.userInfo == Note.userInfo("new"))
        }
    }
}
