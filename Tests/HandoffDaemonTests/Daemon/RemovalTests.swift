import Glibc
import HandoffControl
import HandoffDaemon
import HandoffDiscovery
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import Testing

/// Removal of a device from the account, by whole daemons.
@Suite struct RemovalTests {
    /// Removes a device, and follows the confirmations.
    private func remove(
        _ identifier: String, dropping: [String] = [], by member: TestDevice
    ) throws -> OpenCall {
        let drop = JSON.array(dropping.map { .string($0) })
        return try member.open(
            ControlMethod.removeDevice.rawValue, ["device": .string(identifier), "drop": drop], more: true)
    }

    private func refusal(of identifier: String, dropping: [String] = [], by member: TestDevice) throws -> String {
        try remove(identifier, dropping: dropping, by: member).refusal().name
    }

    private func ids(_ devices: [TestDevice]) throws -> Set<DeviceID> {
        try Set(devices.map { try $0.status().device })
    }

    @Test func `the others learn of a removal and confirm it`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let members = try fleet.account("desk", "couch", "train")
        let train = try members[2].status().device
        let epoch = try members[0].status().epoch

        let events = try remove("train", by: members[0])

        let removed = try RemovalEvent(json: try events.result())
        #expect(removed.kind == .removed)
        #expect(removed.device == train)
        #expect(try Set(removed.confirmed + removed.waiting) == ids(Array(members.prefix(2))))
        let last = try events.next()
        let confirmed = try RemovalEvent(json: last.parameters)
        #expect(confirmed.kind == .confirmed)
        #expect(confirmed.waiting.isEmpty)
        #expect(!last.continues)
        try fleet.settle(Array(members.prefix(2)))
        #expect(try members[1].status().epoch == epoch.map { $0 + 1 })
        try fleet.poll("the train knows") { try members[2].status().warnings.contains { $0.contains("removed") } }
        #expect(try members[2].status().peers.isEmpty)
        #expect(members[2].discovery.publication == nil)
    }

    @Test func `after a removal, the members keep their labels until random times, and miss nothing`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let members = try fleet.account("desk", "couch", "den", "train")
        let former = members.map { $0.discovery.publication }
        _ = try remove("train", by: members[0]).result()
        let stay = Array(members.prefix(3))
        try fleet.settle(stay)

        func changed() -> [Bool] {
            zip(stay, former).map { $0.discovery.publication?.instance != $1?.instance }
        }
        #expect(changed().contains(false))
        try fleet.poll("the announcements are sealed by the new key") {
            zip(stay, former).allSatisfy { $0.discovery.publication?.text != $1?.text }
        }
        let watcher = try stay[1].watch()
        try watcher.ready()
        let published = try stay[0].publish(Note.activity("meanwhile"))
        #expect(try watcher.added().id == published.activity)
        // A member that has just started does not know the labels of the previous epoch.
        try stay[2].stop()
        try stay[2].start()
        try fleet.settle(stay)

        fleet.pass(.seconds(180))
        try fleet.poll("all have new labels") { !changed().contains(false) }
        try fleet.settle(stay)
    }

    @Test func `a device that was removed while offline reports after a day that no device answers`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let members = try fleet.account("desk", "couch", "train")
        try members[2].stop()
        let events = try remove("train", by: members[0])
        #expect(try RemovalEvent(json: try events.result()).kind == .removed)
        try fleet.settle(Array(members.prefix(2)))
        let heard = fleet.unixSeconds
        try members[2].start()
        #expect(try members[2].status().unansweredSince == nil)
        fleet.pass(.seconds(25 * 3600))
        try fleet.poll("the train reports it") { try members[2].status().unansweredSince != nil }
        let since = try #require(try members[2].status().unansweredSince)
        #expect(since <= Double(heard))
        // The time is stored. After a start the others have a minute to answer.
        try members[2].stop()
        try members[2].start()
        #expect(try members[2].status().unansweredSince == nil)
        fleet.pass(.seconds(61))
        #expect(try members[2].status().unansweredSince == since)
        try fleet.poll("the others receive each other's messages") {
            try members.prefix(2).allSatisfy { try $0.status().unansweredSince == nil }
        }
    }

    @Test func `offline members confirm when they return`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let members = try fleet.account("desk", "couch", "train")
        let couch = try members[1].status().device
        try members[1].stop()

        let events = try remove("train", by: members[0])
        #expect(try RemovalEvent(json: try events.result()).waiting == [couch])
        try members[1].start()

        let confirmed = try RemovalEvent(json: try events.result())
        #expect(confirmed.confirmed.contains(couch))
        #expect(confirmed.waiting.isEmpty)
    }

    @Test func `a device admitted by the removed one stays unless dropped`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let desk = try fleet.device("desk")
        let couch = try fleet.device("couch")
        let guests = try ["train", "attic"].map { try fleet.device($0) }
        _ = try desk.call(.createAccount)
        try couch.importAccount(try desk.exportAccount())
        try fleet.settle([desk, couch])
        for (index, guest) in guests.enumerated() {
            var file: [UInt8]?
            // If two members close one ticket, they create two keys, and one must receive the
            // other's.
            try fleet.poll("the couch has the key in force") {
                file = try? couch.exportAccount()
                return file != nil
            }
            try guest.importAccount(try #require(file))
            try fleet.settle([desk, couch] + guests.prefix(index + 1))
        }
        let couchID = try couch.status().device
        let lists = try desk.deviceList()
        for guest in lists where ["train", "attic"].contains(guest.name) { #expect(guest.admittedBy == couchID) }
        #expect(try refusal(of: "couch", dropping: ["desk"], by: desk) == ControlErrorName.accountRefused.rawValue)

        _ = try remove("couch", dropping: ["attic"], by: desk).result()

        try fleet.settle([desk, guests[0]])
        #expect(try Set(desk.deviceList().map(\.name)) == ["desk", "train"])
        try fleet.poll("the attic is removed") { try guests[1].status().peers.isEmpty }
    }

    @Test func `no state of a removed device remains`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let members = try fleet.account("desk", "couch", "train")
        let train = try members[2].status().device
        let watchers = try members.prefix(2).map { try $0.watch() }
        for watcher in watchers { try watcher.ready() }
        let published = try members[2].publish(Note.activity("from the train"))
        for watcher in watchers { _ = try watcher.added() }

        _ = try remove("train", by: members[0]).result()

        for watcher in watchers { #expect(try watcher.removed().id == published.activity) }
        for member in members.prefix(2) {
            try fleet.poll("no connection is left") {
                try member.status().peers.allSatisfy { $0.device != train }
            }
        }
        #expect(try members[2].offers().isEmpty)
    }

    @Test func `a continuation in flight ends with a clear failure`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        // The request to the app does not time out before the removal is stored everywhere.
        let members = try fleet.account("desk", "couch", "train") { $0.configuration.saveAnswer = .seconds(60) }
        let app = try members[2].attach("org.example.editor", types: Note.type)
        let here = try members[1].attach("org.example.editor", types: Note.type)
        let id = try app.engage(Note.activity("draft", needsSave: true))
        try fleet.poll("the couch has the offer") { try members[1].offers().count == 1 }
        let continuing = try members[1].continue()
        let continuation = try here.willContinue()
        #expect(try app.save() == id)

        _ = try remove("train", by: members[0]).result()

        #expect(try here.didFail(continuation).reason == "notMember")
        _ = try continuing.next()
        #expect(try continuing.refusal().parameters["reason"]?.string == "notMember")
    }

    @Test func `a removed device receives no replies to its pending requests`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        // The request to the app does not time out before the removal is stored everywhere.
        let members = try fleet.account("desk", "couch", "train") { $0.configuration.saveAnswer = .seconds(60) }
        let app = try members[1].attach("org.example.editor", types: Note.type)
        _ = try app.engage(Note.activity("draft", needsSave: true))
        try fleet.poll("the train has the offer") { try members[2].offers().count == 1 }
        let taker = try members[2].attach("org.example.editor", types: Note.type)
        let continuing = try members[2].continue()
        let continuation = try taker.willContinue()
        _ = try app.save()

        _ = try remove("train", by: members[0]).result()

        let failure = try taker.didFail(continuation)
        #expect(["notMember", "peerUnreachable"].contains(failure.reason), "\(failure)")
        _ = try continuing.next()
        _ = try continuing.refusal()
    }

    @Test func `members that removed each other while apart are both removed once both are known`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let members = try fleet.account("desk", "couch", "train", "attic")
        let (desk, couch, train, attic) = (members[0], members[1], members[2], members[3])
        // Each notifies one other device of its removal.
        for device in [couch, attic] { try device.stop() }
        _ = try remove("couch", by: desk).result()
        try fleet.settle([desk, train])
        for device in [desk, train] { try device.stop() }
        for device in [couch, attic] { try device.start() }
        _ = try remove("desk", by: couch).result()
        try fleet.settle([couch, attic])

        for device in [desk, train] { try device.start() }

        try fleet.settle([train, attic])
        for rest in [train, attic] { #expect(try Set(rest.deviceList().map(\.name)) == ["train", "attic"]) }
        let published = try train.publish(Note.activity("for members"))
        try fleet.poll("the attic has the offer") { try attic.offers().map(\.id) == [published.activity] }
        for device in [desk, couch] {
            #expect(try device.offers().isEmpty)
            _ = try device.publish(Note.activity("from a removed device"))
        }
        // A device that was wrongly removed can become a member again, as another device.
        let former = try couch.status().device
        _ = try couch.call(.leaveAccount)
        try fleet.poll("the couch has a new identity") { try couch.status().device != former }
        try couch.importAccount(try attic.exportAccount())
        try fleet.settle([train, attic, couch])
        try fleet.poll("the couch has the offer") { try couch.offers().map(\.id) == [published.activity] }
        #expect(try train.offers().isEmpty)
        #expect(try Set(train.deviceList().map(\.name)) == ["train", "attic", "couch"])
    }

    @Test func `a removed device can only leave and is new afterwards`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let members = try fleet.account("desk", "couch")
        _ = try remove("couch", by: members[0]).result()
        try fleet.poll("the couch knows") { try members[1].status().warnings.contains { $0.contains("removed") } }
        let former = try members[1].status().device

        #expect(try refusal(of: "desk", by: members[1]) == ControlErrorName.accountRefused.rawValue)
        let create = try members[1].open(ControlMethod.createAccount.rawValue)
        #expect(try create.refusal().parameters["message"]?.string?.contains("leave") == true)
        let export = try members[1].open(ControlMethod.exportAccount.rawValue, upgrade: true)
        #expect(try export.refusal().name == ControlErrorName.accountRefused.rawValue)
        let file = try members[0].exportAccount()
        let answer = try members[1].offerAccountFile(file)
        #expect(answer["message"]?.string?.contains("leave") == true)
        _ = try members[1].call(.leaveAccount)

        try fleet.poll("the couch has a new identity") { try members[1].status().device != former }
        try members[1].importAccount(file)
        try fleet.settle(members)
    }

    @Test func `a device that removes itself leaves`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let members = try fleet.account("desk", "couch")
        let ids = try members.map { try $0.status().device }
        let event = try fleet.withClockStopped {
            try RemovalEvent(json: try remove(ids[1].hex, by: members[1]).result())
        }
        #expect(event.device == ids[1])
        #expect(event.confirmed == [ids[0]])
        try fleet.poll("the couch has a new identity") { try members[1].status().device != ids[1] }
    }

    @Test func `devices are specified by name or by a prefix of their ID`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let members = try fleet.account("desk", "couch", "train")
        let ids = try members.map { try $0.status().device }
        #expect(try refusal(of: "bus", by: members[0]) == ControlErrorName.noSuchDevice.rawValue)
        #expect(try refusal(of: String(ids[2].hex.prefix(3)), by: members[0]) == ControlErrorName.noSuchDevice.rawValue)
        _ = try members[0].call(.renameDevice, ["device": .string(ids[1].hex), "name": "train"])
        let ambiguous = try remove("train", by: members[0]).refusal()
        #expect(ambiguous.name == ControlErrorName.ambiguousIdentifier.rawValue)
        #expect(ambiguous.parameters["candidates"]?.array?.count == 2)
        // A name that looks like the id of another device makes neither of them ambiguous.
        _ = try members[0].call(.renameDevice, ["device": .string(ids[1].hex), "name": .string(ids[2].hex)])
        let event = try RemovalEvent(json: try remove(ids[2].hex.uppercased(), by: members[0]).result())
        #expect(event.device == ids[2])
    }

    @Test func `a removal that cannot be stored changes nothing`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let members = try fleet.account("desk", "couch")
        try #require(mkdir(members[0].state.file(".account.new"), 0o700) == 0)

        // Otherwise a connection may open or close meanwhile.
        fleet.pass(.zero)
        try fleet.withClockStopped {
            let before = try members[0].status()
            #expect(try refusal(of: "couch", by: members[0]) == ControlErrorName.storageFailed.rawValue)
            #expect(try members[0].status() == before)
        }
        try #require(rmdir(members[0].state.file(".account.new")) == 0)
        let watcher = try members[1].watch()
        try watcher.ready()
        let published = try members[0].publish(Note.activity("still here"))
        #expect(try watcher.added().id == published.activity)
    }

    @Test func `a file of a removed device admits no device`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let members = try fleet.account("desk", "couch", "train")
        let guest = try fleet.device("guest")
        let file = try members[2].exportAccount()
        try fleet.poll("the desk knows the ticket") { try !members[0].status().tickets.isEmpty }

        _ = try remove("train", by: members[0]).result()
        try fleet.settle(Array(members.prefix(2)))
        try guest.beginImport(file)

        let published = try members[0].publish(Note.activity("for members"))
        try fleet.poll("the couch has the offer") { try members[1].offers().map(\.id) == [published.activity] }
        #expect(try guest.offers().isEmpty)
        #expect(try guest.status().peers.allSatisfy { !$0.connected })
        #expect(try Set(members[0].deviceList().map(\.name)) == ["desk", "couch"])
    }

    /// The attacker has copied all that the device ever knew.
    @Test func `a removed device with all its old secrets learns nothing`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let members = try fleet.account("desk", "couch", "train")
        let (desk, couch, train) = (members[0], members[1], members[2])
        try train.stop()
        let secrets = try train.state.copy(of: "identity", "account", "boot")
        let epoch = try desk.status().epoch
        _ = try remove("train", by: desk).result()
        try fleet.settle([desk, couch])
        // As after the two minutes for which previous labels are accepted.
        fleet.pass(.seconds(180))
        try fleet.settle([desk, couch])
        let refusals = {
            desk.log.count { $0.contains("Call failed") } + couch.log.count { $0.contains("Call failed") }
        }
        let before = refusals()

        train.state = secrets
        try train.start()
        try fleet.poll("its service is announced") { train.discovery.publication != nil }
        fleet.pass(.seconds(61))
        let published = try desk.publish(Note.activity("for members"))
        try fleet.poll("the couch has the offer") { try couch.offers().map(\.id) == [published.activity] }

        // No device calls it, because that would reveal that members are online.
        #expect(refusals() == before)
        #expect(try train.offers().isEmpty)
        #expect(try train.status().peers.allSatisfy { !$0.connected })
        #expect(try train.status().epoch == epoch)
        #expect(try Set(desk.deviceList().map(\.name)) == ["desk", "couch"])
    }

    @Test func `a member that was offline no longer trusts the removed device`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let members = try fleet.account("desk", "couch", "train")
        let (desk, couch, train) = (members[0], members[1], members[2])
        try couch.stop()
        try train.stop()
        _ = try remove("train", by: desk).result()

        // Neither knows of it, and they trust each other until one of them has learned of it.
        try train.start()
        try couch.start()
        try fleet.settle([desk, couch])

        let published = try couch.publish(Note.activity("for members"))
        try fleet.poll("the desk has the offer") { try desk.offers().map(\.id) == [published.activity] }
        #expect(try train.offers().isEmpty)
        #expect(try Set(couch.deviceList().map(\.name)) == ["desk", "couch"])
    }
}
