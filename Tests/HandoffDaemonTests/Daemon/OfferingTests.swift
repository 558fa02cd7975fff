import HandoffControl
import HandoffDaemon
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import Testing

/// The announcements of a whole daemon about its activities.
@Suite final class OfferingTests {
    private let fleet: Fleet

    init() throws {
        fleet = try Fleet()
    }

    deinit {
        fleet.end()
    }

    private func pair(configure: (TestDevice) -> Void = { _ in }) throws -> (TestDevice, TestDevice, Watcher) {
        let devices = try fleet.account("desk", "couch", configure: configure)
        let watcher = try devices[1].watch()
        try watcher.ready()
        return (devices[0], devices[1], watcher)
    }

    @Test func `an activity that becomes current again has a new id`() throws {
        let (desk, couch, watcher) = try pair()
        let editor = try desk.attach("Editor")
        let id = try editor.engage(Note.activity("again"))
        #expect(try watcher.added().id == id)

        try editor.call(.resignCurrent, id)
        #expect(try watcher.removed().id == id)
        try editor.call(.becomeCurrent, id)
        let again = try watcher.added()

        #expect(again.id != id)
        #expect(
            try couch.continue(ContinueRequest(activity: id.hex, take: true)).refusal().name
                == ControlErrorName.nothingToContinue.rawValue)
        _ = try couch.continue(ContinueRequest(activity: again.id.hex, take: true)).result()
        // The owner receives the event with its own handle.
        guard case .continued(id, _, nil) = try editor.next() else { throw UnexpectedEvent() }
        try editor.call(.invalidate, id)
        #expect(try watcher.removed().id == again.id)
    }

    @Test func `the next activity of an app replaces the previous one`() throws {
        let (desk, _, watcher) = try pair()
        let editor = try desk.attach("Editor")
        let first = try editor.engage(Note.activity("first"))
        #expect(try watcher.added().id == first)
        let second = try editor.engage(Note.activity("second"))
        #expect(try watcher.removed().id == first)
        #expect(try watcher.added().id == second)
    }

    @Test func `local publications are listed, and the user can withdraw them`() throws {
        let (desk, _, watcher) = try pair()
        let editor = try desk.attach("Editor")
        let id = try editor.engage(Note.activity("Letter"))
        #expect(try watcher.added().id == id)
        let listed: [PublishedActivity] = try Fields(try desk.call(.listPublished)).value("activities")
        #expect(listed.map(\.id) == [id])
        #expect(listed.first?.app == "Editor" && listed.first?.offered == true)

        _ = try desk.call(.withdraw, ["activity": .string(String(id.hex.prefix(5)))])
        #expect(try watcher.removed().id == id)
        guard case .withdrawn(id) = try editor.next() else { throw UnexpectedEvent() }
        let refused = try desk.open(ControlMethod.withdraw.rawValue, ["activity": .string(id.hex)]).refusal()
        #expect(refused.name == ControlErrorName.noSuchActivity.rawValue)
    }

    @Test func `an activity sent to one device is offered only there`() throws {
        let devices = try fleet.account("desk", "couch", "phone")
        let (desk, couch, phone) = (devices[0], devices[1], devices[2])
        let (onCouch, onPhone) = (try couch.watch(), try phone.watch())
        try onCouch.ready()
        try onPhone.ready()
        let sender = try desk.attach("Sender")
        var letter = Note.activity("for you", title: "Letter")
        letter.to = "couch"
        let id = try sender.engage(letter)
        let arrived = try onCouch.added()
        #expect(arrived.id == id && arrived.sent)
        // A later offer to all reaches both, so an earlier one would have arrived before.
        let editor = try desk.attach("Editor")
        let other = try editor.engage(Note.activity("for all"))
        #expect(try onCouch.added().id == other)
        let seen = try onPhone.added()
        #expect(seen.id == other && !seen.sent)
        #expect(try phone.offers().map(\.id) == [other])
        let refused = try phone.continue(ContinueRequest(activity: id.hex, take: true)).refusal()
        #expect(refused.name == ControlErrorName.nothingToContinue.rawValue)

        _ = try couch.continue(ContinueRequest(activity: id.hex, take: true)).result()
        guard case .continued(id, _, nil) = try sender.next() else { throw UnexpectedEvent() }
        try sender.call(.invalidate, id)
        #expect(try onCouch.removed().id == id)
    }

    @Test(arguments: ["nobody", "desk", ""]) func `only another device can be a recipient`(_ name: String) throws {
        let (desk, _, _) = try pair()
        var letter = Note.activity("for you")
        letter.to = name
        let call = try desk.open(
            AppMethod.publish.rawValue, ["activity": .object(letter.json)], more: true)
        #expect(try call.refusal().name == AppErrorName.invalidActivity.rawValue)
    }

    @Test func `an activity expires`() throws {
        let (desk, _, watcher) = try pair()
        var activity = Note.activity("for a while")
        activity.expirationDate = fleet.appleSeconds + 20
        let published = try desk.publish(activity)
        #expect(try watcher.added().id == published.activity)
        fleet.pass(.seconds(21))
        #expect(try watcher.removed().id == published.activity)
        guard case .withdrawn(published.activity) = try published.next() else { throw UnexpectedEvent() }
    }

    @Test func `an activity without updates ends after the configured time`() throws {
        let (desk, _, watcher) = try pair()
        let editor = try desk.attach("Editor")
        let id = try editor.engage(Note.activity("left alone"))
        #expect(try watcher.added().id == id)
        fleet.pass(.seconds(86_400))
        #expect(try watcher.removed().id == id)
        #expect(try editor.next() == .withdrawn(id))
    }

    @Test func `a change of the title is announced`() throws {
        let (desk, _, watcher) = try pair()
        let editor = try desk.attach("Editor")
        let id = try editor.engage(Note.activity("text", title: "Draft"))
        #expect(try watcher.added().title == "Draft")
        var change = ActivityChange()
        change.title = "Final"
        try editor.call(.update, id, change: change)
        guard case .changed(let offer) = try watcher.next() else { throw UnexpectedEvent() }
        #expect(offer.title == "Final")
        change.title = nil
        change.isEligibleForHandoff = false
        try editor.call(.update, id, change: change)
        #expect(try watcher.removed().id == id)
    }

    @Test func `with titles off only the payload has the title`() throws {
        let (desk, couch, watcher) = try pair { $0.configuration.titles = false }
        _ = try desk.publish(Note.activity("text", title: "Secret"))
        #expect(try watcher.added().title == nil)
        let call = try couch.continue(ContinueRequest(take: true))
        _ = try call.result()
        guard case .continued(_, let content?, _, _, _) = try ContinueEvent(json: call.result()) else {
            throw UnexpectedEvent()
        }
        #expect(content.title == "Secret")
    }

    @Test func `a bare beacon does not change with the user's activity`() throws {
        let (desk, couch, watcher) = try pair { $0.configuration.advertise = .beaconOnly }
        // The announcements after joining have been sent.
        fleet.pass(.seconds(10))
        _ = try couch.status()
        let before = desk.discovery.publicationCount

        let published = try desk.publish(Note.activity("unseen from outside"))
        #expect(try watcher.added().id == published.activity)
        fleet.pass(.seconds(10))
        published.close()
        #expect(try watcher.removed().id == published.activity)
        fleet.pass(.seconds(10))
        _ = try desk.status()

        #expect(desk.discovery.publicationCount == before)
    }

    @Test func `a device that starts later also learns what a bare beacon omits`() throws {
        let (desk, couch, _) = try pair { $0.configuration.advertise = .beaconOnly }
        let published = try desk.publish(Note.activity("here already"))
        try couch.stop()
        try couch.start()
        try fleet.poll("the offer") { try couch.offers().map(\.id) == [published.activity] }
    }

    @Test func `a full beacon changes with the user's activity`() throws {
        let (desk, _, watcher) = try pair()
        fleet.pass(.seconds(10))
        _ = try desk.status()
        let before = desk.discovery.publicationCount
        let published = try desk.publish(Note.activity("seen"))
        #expect(try watcher.added().id == published.activity)
        fleet.pass(.seconds(10))
        try fleet.run("the beacon is renewed") { desk.discovery.publicationCount > before }
    }

    @Test func `with advertising off nothing is offered`() throws {
        let (desk, couch, watcher) = try pair { device in
            if device.name == "desk" { device.configuration.advertise = .off }
        }
        _ = try desk.publish(Note.activity("private"))
        #expect(try desk.status().published == 1)
        // The couch restarts and contacts the desk again. Even then it receives no offers.
        try couch.stop()
        try couch.start()
        try fleet.settle([desk, couch])
        let again = try couch.watch()
        try again.ready()
        _ = try couch.publish(Note.activity("public"))
        try fleet.poll("the desk has the couch's offer") { try desk.offers().count == 1 }

        #expect(try couch.offers().isEmpty)
        #expect(again.waiting == 0)
        #expect(watcher.waiting == 0)
    }

    @Test func `offers that do not fit in an announcement are fetched`() throws {
        let (desk, couch, _) = try pair()
        let title = String(repeating: "long title ", count: 30)
        let published = try (0..<20).map { try desk.publish(Note.activity("\($0)", title: title)) }
        let ids = Set(published.map(\.activity))
        try fleet.poll("all have arrived") { try Set(couch.offers().map(\.id)) == ids }
        published[7].close()
        try fleet.poll("one less is offered") { try couch.offers().count == 19 }
        #expect(try !couch.offers().contains { $0.id == published[7].activity })
    }
}
