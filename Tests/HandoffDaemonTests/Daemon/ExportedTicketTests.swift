import HandoffControl
import HandoffDiscovery
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

/// Exported files that are revoked or used twice, and manual changes of the key.
@Suite struct ExportedTicketTests {
    private func revoke(_ ticket: String, by device: TestDevice) throws {
        _ = try device.call(.revokeExport, ["ticket": .string(ticket)])
    }

    @Test func `a revoked file admits no device, and its device reports the remedy`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let members = try fleet.account("desk", "couch")
        let late = try fleet.device("late")
        let file = try members[0].exportAccount()
        let epoch = try members[0].status().epoch
        try fleet.poll("the couch knows the ticket") { try !members[1].status().tickets.isEmpty }

        // By any member, including one that did not issue it, and by a prefix of the id, as users
        // type it.
        let ticket = try #require(try members[1].status().tickets.first?.id)
        try revoke(String(ticket.prefix(4)).uppercased(), by: members[1])
        try fleet.settle(members)
        #expect(try members[0].status().epoch == epoch, "it had not been used")

        let answer = try late.offerAccountFile(file)
        #expect(answer["joined"] == .bool(false))
        #expect(answer["missing"]?.string != nil)
        try fleet.poll("the file is reported as invalid once no member marks it") {
            try late.status().warnings.contains { $0.contains("already used or revoked") }
        }
        let published = try members[0].publish(Note.activity("for members"))
        try fleet.poll("the couch has the offer") { try members[1].offers().map(\.id) == [published.activity] }
        #expect(try late.offers().isEmpty)
        #expect(try late.status().warnings.contains { $0.contains("has not joined its account yet") })
        for member in members { #expect(try member.deviceList().count == 2) }
    }

    @Test func `a member that no longer marks a file is not reported as reachable`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let desk = try #require(try fleet.account("desk").first)
        let late = try fleet.device("late")
        late.discovery.stopReceiving()
        let before = try #require(desk.discovery.publication)
        let file = try desk.exportAccount()
        try fleet.poll("the file is marked") { desk.discovery.publication != before }
        let marked = try #require(desk.discovery.publication)

        // Closed by now, so that the member refuses the call that its previous record leads to.
        try revoke(try #require(try desk.status().tickets.first?.id), by: desk)
        try fleet.poll("the file is no longer marked") { desk.discovery.publication != marked }
        let unmarked = try #require(desk.discovery.publication)
        let address = SocketAddress(.loopbackIPv4, port: marked.port)
        try late.beginImport(file)
        late.discovery.emit(.service(DiscoveredService(marked, addresses: [address])))
        try fleet.poll("the mark is detected") {
            try late.status().warnings.contains { $0.contains("a member is online but") }
        }
        late.discovery.emit(.service(DiscoveredService(unmarked, addresses: [address])))
        try fleet.poll("the file is reported as invalid") {
            try late.status().warnings.contains { $0.contains("already used or revoked") }
        }
    }

    @Test func `an import is not reported as joined if the device has joined another account meanwhile`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let desk = try fleet.device("desk")
        let couch = try fleet.device("couch")
        let late = try fleet.device("late")
        for member in [desk, couch] { _ = try member.call(.createAccount) }
        let file = try desk.exportAccount()
        try desk.stop()

        let first = try late.beginImport(file)
        _ = try late.call(.leaveAccount)
        try fleet.poll("it has left") { try late.status().account == nil }
        #expect(try late.offerAccountFile(couch.exportAccount())["joined"] == .bool(true))
        let answer = try JSON(parsing: Array(first.rest().dropLast()), limits: JSONLimits(bytes: 4096)).object
        #expect(answer?["joined"] == .bool(false))
    }

    @Test func `a revocation during an import admits no device`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let members = try fleet.account("desk", "couch")
        let late = try fleet.device("late")
        let file = try members[0].exportAccount()
        try fleet.poll("the couch knows the ticket") { try !members[1].status().tickets.isEmpty }
        let ticket = try #require(try members[0].status().tickets.first?.id)

        try late.beginImport(file)
        // Whichever of the import and the revocation is first, the two members agree afterwards.
        let call = try members[0].open(
            ControlMethod.revokeExport.rawValue, ["ticket": .string(String(ticket.prefix(8)))])
        let reply = try call.next()
        try fleet.poll("the members agree") {
            let lists = try members.map { try Set($0.deviceList().map(\.id)) }
            let states = try members.map { try $0.status() }
            return lists[0] == lists[1] && states[0].epoch == states[1].epoch
                && states.allSatisfy { $0.tickets.isEmpty && $0.warnings.isEmpty }
        }
        let admitted = try members[0].deviceList().count == 3
        #expect(admitted == (reply.error == ControlErrorName.noSuchTicket.rawValue), "\(reply)")
    }

    @Test(arguments: [
        "", "012", "0000000", "zzzz", "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    ])
    func `an invalid identifier of a ticket is reported`(_ identifier: String) throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let desk = try fleet.device("desk")
        for _ in 0..<2 {
            let refusal = try desk.open(
                ControlMethod.revokeExport.rawValue, ["ticket": .string(identifier)]
            ).refusal()
            #expect(refusal.name == ControlErrorName.noSuchTicket.rawValue)
            #expect(refusal.parameters["identifier"]?.string == identifier)
            if try desk.status().account == nil { _ = try desk.call(.createAccount) }
        }
    }

    @Test func `a device that uses a closed file reports the missing condition`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let (desk, couch) = (try fleet.device("desk"), try fleet.device("couch"))
        let late = try fleet.device("late")
        _ = try desk.call(.createAccount)
        let file = try desk.exportAccount()
        try couch.importAccount(file)
        try fleet.settle([desk, couch])

        try late.beginImport(file)
        #expect(!late.log.contains { $0.contains("Joined an account") })
        #expect(try late.status().warnings.contains { $0.contains("has not joined its account yet") })
        #expect(try couch.status().warnings.isEmpty)
        #expect(try desk.status().warnings.isEmpty)

        // The reported remedy works.
        _ = try late.call(.leaveAccount)
        try late.importAccount(try desk.exportAccount())
        try fleet.settle([desk, couch, late])
    }

    @Test func `several files admit their devices in any order across new keys and removals`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let members = try fleet.account("desk", "couch")
        let guests = try ["phone", "tablet", "train"].map { try fleet.device($0) }
        let files = try guests.map { _ in try members[0].exportAccount() }
        try guests[2].importAccount(files[2])
        _ = try members[0].call(.rotateKey)
        try guests[0].importAccount(files[0])
        // A member that is removed meanwhile leaves nothing.
        let removed = try guests[2].status().device
        _ = try members[0].open(
            ControlMethod.removeDevice.rawValue, ["device": .string(removed.hex)], more: true
        ).next()
        try guests[1].importAccount(files[1])
        try fleet.settle(members + guests.prefix(2))
        for guest in guests.prefix(2) { #expect(guest.log.contains { $0.contains("Joined an account") }) }
    }

    @Test func `two files that are imported at the same time admit both devices`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let desk = try fleet.device("desk")
        let guests = try ["couch", "train"].map { try fleet.device($0) }
        _ = try desk.call(.createAccount)
        let files = try guests.map { _ in try desk.exportAccount() }
        for (guest, file) in zip(guests, files) { try guest.beginImport(file) }
        try fleet.settle([desk] + guests)
    }

    @Test func `a file admits a device through any member that knows the ticket`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let members = try fleet.account("desk", "couch")
        let late = try fleet.device("late")
        let file = try members[0].exportAccount()
        try fleet.poll("the couch knows the ticket") { try !members[1].status().tickets.isEmpty }
        try members[0].stop()
        // Within a minute the couch marks the ticket too.
        fleet.pass(.seconds(61))
        try late.importAccount(file)
        try members[0].start()
        try fleet.settle(members + [late])
    }

    @Test func `of two devices that use a file at the same time, the rejected one reports it`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let desk = try fleet.device("desk")
        let rivals = try ["first", "second"].map { try fleet.device($0) }
        fleet.network.hold()
        _ = try desk.call(.createAccount)
        let file = try desk.exportAccount()
        for rival in rivals { try rival.beginImport(file) }
        // Until a member confirms one of them, neither knows whether it is admitted.
        for rival in rivals { #expect(try rival.status().warnings.count == 1) }
        fleet.network.release()

        try fleet.poll("one of them is admitted") { try desk.deviceList().count == 2 && desk.status().tickets.isEmpty }
        let names = try Set(desk.deviceList().map(\.name))
        for rival in rivals {
            let isIn = names.contains(rival.name)
            try fleet.poll("\(rival.name) knows") {
                let warnings = try rival.status().warnings
                return isIn ? warnings.isEmpty : warnings.contains { $0.contains("has not joined its account yet") }
            }
        }
    }

    @Test func `if separated members each confirm another device of one file, both devices are rejected`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let members = try fleet.account("desk", "couch")
        let (desk, couch) = (members[0], members[1])
        let file = try desk.exportAccount()
        try fleet.poll("the couch knows the ticket") { try !couch.status().tickets.isEmpty }
        // From here on devices find each other only by an address.
        try couch.stop()
        fleet.network.hold()
        try couch.start()
        var guests: [TestDevice] = []
        for (name, member) in [("train", desk), ("late", couch)] {
            let guest = try fleet.device(name)
            try guest.beginImport(file)
            _ = try guest.call(.addPeer, ["address": .string(member.address.description)])
            try fleet.poll("\(member.name) confirms \(name)") {
                let isIn = try Set(member.deviceList().map(\.name)) == ["desk", "couch", name]
                return try isIn && member.status().tickets.isEmpty && guest.status().warnings.isEmpty
            }
            guests.append(guest)
        }

        fleet.network.release()

        // Each member keeps a device that the other one does not. A device that not all keep is
        // rejected.
        try fleet.settle(members)
        for member in members { #expect(try Set(member.deviceList().map(\.name)) == ["desk", "couch"]) }
        for guest in guests {
            try fleet.poll("\(guest.name) knows") {
                try guest.status().warnings.contains { $0.contains("was closed, so this device is not a member") }
            }
        }

        // The reported remedy works.
        _ = try guests[1].call(.leaveAccount)
        try guests[1].importAccount(try couch.exportAccount())
        try fleet.settle(members + [guests[1]])
    }

    @Test func `the key can be changed manually`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let members = try fleet.account("desk", "couch", "train")
        let watcher = try members[1].watch()
        try watcher.ready()
        let before = try #require(try members[0].status().epoch)

        let epoch = try members[2].call(.rotateKey)["epoch"]?.integer
        #expect(epoch.map { UInt64($0) } == before + 1)
        try fleet.poll("all have the new key") {
            try members.allSatisfy { try $0.status().epoch == before + 1 && $0.status().warnings.isEmpty }
        }
        try fleet.settle(members)
        let published = try members[0].publish(Note.activity("under the new key"))
        #expect(try watcher.added().id == published.activity)
    }

    @Test func `without an account there is no key to change`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let desk = try fleet.device("desk")
        let refusal = try desk.open(ControlMethod.rotateKey.rawValue).refusal()
        #expect(refusal.name == ControlErrorName.noAccount.rawValue)
    }
}
