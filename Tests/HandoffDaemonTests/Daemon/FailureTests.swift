import HandoffControl
import HandoffDaemon
import HandoffModel
import HandoffTestSupport
import Testing

/// Failing continuations between two whole daemons: each has exactly one outcome.
@Suite final class FailureTests {
    private let fleet: Fleet
    private let desk: TestDevice
    private let couch: TestDevice

    init() throws {
        fleet = try Fleet()
        let devices = try fleet.account("desk", "couch") {
            $0.configuration.saveAnswer = .seconds(60)
            // A copy would be continued instead of an activity whose device does not answer.
            $0.configuration.keep = false
        }
        (desk, couch) = (devices[0], devices[1])
    }

    deinit {
        fleet.end()
    }

    /// Waits until the couch has one offer.
    private func awaitOffer() throws {
        try fleet.poll("an offer") { try couch.offers().count == 1 }
    }

    /// A handler on the couch that continues an unsaved activity of an app on the desk, up to the
    /// save request.
    private func beginUnsaved(_ request: ContinueRequest = ContinueRequest()) throws -> Begun {
        let editor = try desk.attach("Editor")
        let id = try editor.engageInUnsaved("old")
        let viewer = try couch.attach("Viewer", types: Note.type)
        try awaitOffer()
        let call = try couch.continue(request)
        _ = try call.result()
        let continuation = try viewer.willContinue()
        #expect(try editor.save() == id)
        return Begun(editor: editor, activity: id, viewer: viewer, continuation: continuation, call: call)
    }

    private struct Begun {
        let editor: TestApp
        let activity: ActivityID
        let viewer: TestApp
        let continuation: ContinuationID
        let call: OpenCall
    }

    @Test func `an origin that has vanished is unreachable`() throws {
        _ = try desk.publish(Note.activity("gone"))
        let viewer = try couch.attach("Viewer", types: Note.type)
        try awaitOffer()
        let watcher = try couch.watch()
        _ = try watcher.added()
        try watcher.ready()
        // Otherwise the change would arrive over the connection.
        try closeWarmConnection()
        try desk.vanish(unnoticedBy: couch)

        let call = try couch.continue()
        let failure = try call.failure()

        #expect(failure.code == HandoffFailure.connectionUnavailableCode)
        #expect(failure.reason == "peerUnreachable")
        #expect(failure.message.contains("desk"))
        #expect(try viewer.didFail(try viewer.willContinue()) == failure)
        #expect(viewer.waiting == 0)
        // After a failed call and an unanswered probe, the device is offline, and its offers are
        // removed.
        #expect(try watcher.removed().deviceName == "desk")
    }

    @Test func `an origin whose announcements arrive but whose connections fail is behind a firewall`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let members = try fleet.account("desk", "couch")
        let (desk, couch) = (members[0], members[1])
        _ = try desk.publish(Note.activity("note"))
        try fleet.poll("an offer") { try !couch.offers().isEmpty }
        for member in members {
            member.blockConnections()
            member.freezeConnections()
        }
        let call = try couch.continue(ContinueRequest(take: true))
        _ = try call.result()
        let failure = try call.failure()
        #expect(failure.reason == "peerUnreachable")
        #expect(failure.message.contains("announcements of desk arrive"), "\(failure)")
        #expect(failure.message.contains("firewall"), "\(failure)")
    }

    @Test func `an origin that hangs is unreachable`() throws {
        _ = try desk.publish(Note.activity("hangs"))
        let viewer = try couch.attach("Viewer", types: Note.type)
        try awaitOffer()
        try closeWarmConnection()
        desk.blockConnections()

        let call = try couch.continue(ContinueRequest(timeout: 60))
        let continuation = try viewer.willContinue()
        fleet.pass(.seconds(6))

        let failure = try call.failure()
        #expect(failure.code == HandoffFailure.connectionUnavailableCode)
        #expect(try viewer.didFail(continuation) == failure)
    }

    @Test func `an activity that was withdrawn is unknown`() throws {
        var note = Note.activity("withdrawn")
        // The withdrawal of a copy would be sent immediately.
        note.keep = false
        let published = try desk.publish(note)
        let viewer = try couch.attach("Viewer", types: Note.type)
        try awaitOffer()
        // The couch does not learn of it in time: datagrams can be lost, and the call that follows
        // takes seconds.
        try closeWarmConnection()
        couch.blockDatagrams()
        couch.discovery.stopReceiving()
        // After some seconds the desk would notify it over a connection.
        let failure = try fleet.withClockStopped {
            published.close()
            try fleet.poll("it is withdrawn") { try desk.status().published == 0 }
            return try couch.continue().failure()
        }

        #expect(failure.code == HandoffFailure.failedCode)
        #expect(failure.reason == "unknownActivity")
        #expect(try viewer.didFail(try viewer.willContinue()) == failure)
        #expect(viewer.waiting == 0)
    }

    @Test func `an owner that is slower than the caller's timeout times out`() throws {
        let begun = try beginUnsaved(ContinueRequest(timeout: 5))

        fleet.pass(.seconds(5))

        let failure = try begun.call.failure()
        #expect(failure.code == HandoffFailure.timedOutCode)
        #expect(failure.reason == "timedOut")
        #expect(try begun.viewer.didFail(begun.continuation) == failure)
        // A late answer reaches no device.
        try begun.editor.call(.answerSave, begun.activity, change: Note.change("late"))
        guard case .saved = try begun.editor.next() else { throw UnexpectedEvent() }
        #expect(throws: OpenCall.Refused.self) { try begun.viewer.answer(begun.continuation, handled: true) }
        #expect(begun.viewer.waiting == 0)
        #expect(begun.editor.waiting == 0)
    }

    @Test func `a handler that does not answer times out`() throws {
        _ = try desk.publish(Note.activity("undecided"))
        let viewer = try couch.attach("Viewer", types: Note.type)
        try awaitOffer()
        let call = try couch.continue()
        let continuation = try viewer.willContinue()
        _ = try viewer.content(continuation)

        fleet.pass(.seconds(20))

        let failure = try call.failure()
        #expect(failure.code == HandoffFailure.timedOutCode)
        #expect(failure.reason == "handlerTimedOut")
        #expect(failure.message.contains("Viewer"))
        // It has already received its one outcome.
        #expect(throws: OpenCall.Refused.self) { try viewer.answer(continuation, handled: true) }
        #expect(viewer.waiting == 0)
    }

    @Test func `an owner that crashes during a save request is reported`() throws {
        let begun = try beginUnsaved()
        begun.editor.crash()
        let failure = try begun.call.failure()
        #expect(failure.code == HandoffFailure.failedCode)
        #expect(failure.reason == "ownerGone")
        #expect(failure.message.contains("desk"))
        #expect(try begun.viewer.didFail(begun.continuation) == failure)
        #expect(begun.viewer.waiting == 0)
    }

    @Test func `a handler that crashes during the fetch is reported`() throws {
        let begun = try beginUnsaved()
        begun.viewer.crash()
        let failure = try begun.call.failure()
        #expect(failure.reason == "handlerGone")
        #expect(failure.message.contains("Viewer"))
        try begun.editor.call(.answerSave, begun.activity)
        guard case .saved = try begun.editor.next() else { throw UnexpectedEvent() }
        #expect(begun.editor.waiting == 0)
    }

    @Test func `a handler that crashes before its answer is reported`() throws {
        let published = try desk.publish(Note.activity("undecided"))
        let viewer = try couch.attach("Viewer", types: Note.type)
        try awaitOffer()
        let call = try couch.continue()
        _ = try viewer.content(try viewer.willContinue())
        viewer.crash()
        #expect(try call.failure().reason == "handlerGone")
        try expectNotContinued(published)
    }

    @Test(arguments: [(nil, ""), ("no room", ": no room")] as [(String?, String)])
    func `a handler that refuses is named, with its reason`(_ reason: String?, _ shown: String) throws {
        let published = try desk.publish(Note.activity("refused"))
        let viewer = try couch.attach("Viewer", types: Note.type)
        try awaitOffer()
        let call = try couch.continue()
        let continuation = try viewer.willContinue()
        _ = try viewer.content(continuation)
        #expect(throws: (any Error).self) {
            try viewer.answer(continuation, handled: false, failure: String(repeating: "x", count: 4097))
        }
        try viewer.answer(continuation, handled: false, failure: reason)
        let failure = try call.failure()
        #expect(failure.reason == "handlerRefused")
        #expect(failure.message == "Viewer declined the activity\(shown)")
        #expect(viewer.waiting == 0)
        try expectNotContinued(published)
    }

    @Test func `a caller that disconnects during the fetch cancels the continuation`() throws {
        let begun = try beginUnsaved()
        begun.call.close()
        let failure = try begun.viewer.didFail(begun.continuation)
        #expect(failure.reason == "cancelled")
        try begun.editor.call(.answerSave, begun.activity)
        guard case .saved = try begun.editor.next() else { throw UnexpectedEvent() }
        #expect(begun.viewer.waiting == 0)
    }

    @Test func `a caller that disconnects before the handler answers changes nothing`() throws {
        let published = try desk.publish(Note.activity("decided"))
        let viewer = try couch.attach("Viewer", types: Note.type)
        try awaitOffer()
        let call = try couch.continue()
        let continuation = try viewer.willContinue()
        _ = try viewer.content(continuation)
        call.close()
        try viewer.answer(continuation, handled: true)
        guard case .continued(published.activity, let by, nil) = try published.next() else { throw UnexpectedEvent() }
        #expect(by.deviceName == "couch")
        #expect(viewer.waiting == 0)
    }

    @Test func `a payload above the limit is too large`() throws {
        let published = try desk.publish(Note.activity(String(repeating: "x", count: Limits.payloadDefault)))
        #expect(published.advice != nil)
        let viewer = try couch.attach("Viewer", types: Note.type)
        try awaitOffer()
        let failure = try couch.continue().failure()
        #expect(failure.code == HandoffFailure.tooLargeCode)
        #expect(failure.message.contains("desk"))
        #expect(try viewer.didFail(try viewer.willContinue()) == failure)
        try expectNotContinued(published)
    }

    @Test func `a payload at the limit arrives`() throws {
        let text = String(repeating: "x", count: Limits.payloadDefault - 256)
        _ = try desk.publish(Note.activity(text))
        try awaitOffer()
        let call = try couch.continue(ContinueRequest(take: true))
        _ = try call.result()
        guard case .continued(_, let content?, _, _, _) = try ContinueEvent(json: call.result()) else {
            throw UnexpectedEvent()
        }
        #expect(content.userInfo == Note.userInfo(text))
    }

    @Test func `a repeated request of a device replaces its first one`() throws {
        let begun = try beginUnsaved()
        let second = try couch.continue(ContinueRequest(take: true))
        let failure = try begun.call.failure()
        #expect(failure.reason == "rejected")
        #expect(try begun.viewer.didFail(begun.continuation) == failure)
        try begun.editor.call(.answerSave, begun.activity, change: Note.change("new"))
        _ = try second.result()
        guard case .continued(_, let content?, _, _, _) = try ContinueEvent(json: second.result()) else {
            throw UnexpectedEvent()
        }
        #expect(content.userInfo == Note.userInfo("new"))
        #expect(begun.viewer.waiting == 0)
    }

    /// Waits until the idle connection has been closed, after a minute without use.
    private func closeWarmConnection() throws {
        for _ in 0..<10 where try couch.status().peers.contains(where: \.connected) { fleet.pass(.seconds(30)) }
        try fleet.poll("the connection is closed") {
            try [couch, desk].allSatisfy { try !$0.status().peers.contains(where: \.connected) }
        }
    }

    /// Checks that the owner received no continuation: its next event is a later one.
    private func expectNotContinued(_ published: Publisher) throws {
        let small = try desk.publish(Note.activity("next"))
        try fleet.poll("the next offer") { try couch.offers().count == 2 }
        _ = try couch.continue(ContinueRequest(activity: small.activity.hex, take: true)).result()
        guard case .continued(small.activity, _, nil) = try small.next() else { throw UnexpectedEvent() }
        #expect(published.waiting == 0)
    }
}
