import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import Testing

/// Devices that join an account, by whole daemons.
@Suite struct JoiningTests {
    @Test func `a device joins by ticket and receives the first offer`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let desk = try fleet.device("desk")
        let couch = try fleet.device("couch")
        let account = try #require(try desk.call(.createAccount)["account"]?.string)
        let published = try desk.publish(Note.activity("first"))
        let watcher = try couch.watch()
        try watcher.ready()

        try couch.importAccount(try desk.exportAccount())
        let offer = try watcher.added()

        #expect(offer.id == published.activity)
        #expect(offer.deviceName == "desk")
        #expect(try couch.status().account?.hex == account)
        try fleet.settle([desk, couch])
    }

    @Test func `the first use closes the ticket and keeps the key`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let desk = try fleet.device("desk")
        let couch = try fleet.device("couch")
        _ = try desk.call(.createAccount)
        let file = try desk.exportAccount()
        let before = try desk.status()
        #expect(before.tickets.map(\.mine) == [true])

        try couch.importAccount(file)
        try fleet.settle([desk, couch])

        let after = try couch.status()
        #expect(after.epoch == before.epoch)
        #expect(after.tickets.isEmpty)
    }

    @Test func `all three devices of an account are online for each other`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let devices = try fleet.account("desk", "couch", "train")
        let watchers = try devices.map { try $0.watch() }
        for watcher in watchers { try watcher.ready() }

        for origin in devices {
            let published = try origin.publish(Note.activity(origin.name))
            for (device, watcher) in zip(devices, watchers) where device.name != origin.name {
                let offer = try watcher.added()
                #expect(offer.id == published.activity)
                #expect(offer.deviceName == origin.name)
            }
            published.close()
            for (device, watcher) in zip(devices, watchers) where device.name != origin.name {
                #expect(try watcher.removed().id == published.activity)
            }
        }
        for device in devices {
            #expect(try Set(device.deviceList().map(\.name)) == ["desk", "couch", "train"])
            #expect(try device.deviceList().allSatisfy(\.online))
        }
    }

    @Test func `the roster converges for a device that was offline when another joined`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let devices = try fleet.account("desk", "couch")
        let (desk, couch) = (devices[0], devices[1])
        let train = try fleet.device("train")
        try couch.stop()
        try train.importAccount(try desk.exportAccount())
        try fleet.settle([desk, train])
        let epoch = try desk.status().epoch

        try couch.start()
        try fleet.settle([desk, couch, train])

        #expect(try couch.status().epoch == epoch)
        let watcher = try couch.watch()
        try watcher.ready()
        _ = try train.publish(Note.activity("on the way"))
        #expect(try watcher.added().deviceName == "train")
    }

    @Test func `a device that joined through a member now offline connects to the others later`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let devices = try fleet.account("desk", "couch")
        let (desk, couch) = (devices[0], devices[1])
        let train = try fleet.device("train")
        let file = try desk.exportAccount()
        try fleet.poll("the couch knows the ticket") { try !couch.status().tickets.isEmpty }
        try desk.stop()
        // Within a minute the couch announces that it waits for the file's device.
        fleet.pass(.seconds(61))

        try train.importAccount(file)
        try fleet.settle([couch, train])
        try desk.start()

        try fleet.settle([desk, couch, train])
    }

    @Test func `a used file admits no other device`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let desk = try fleet.device("desk")
        let couch = try fleet.device("couch")
        let late = try fleet.device("late")
        _ = try desk.call(.createAccount)
        let file = try desk.exportAccount()
        try couch.importAccount(file)
        try fleet.settle([desk, couch])

        // According to the file, its ticket is open.
        try late.beginImport(file)
        let published = try desk.publish(Note.activity("for members"))
        try fleet.poll("the couch has the offer") { try couch.offers().map(\.id) == [published.activity] }

        #expect(try late.offers().isEmpty)
        #expect(try late.status().peers.isEmpty)
        for member in [desk, couch] {
            #expect(try Set(member.deviceList().map(\.name)) == ["desk", "couch"])
        }
    }

    @Test func `joining ends with the daemon, even while a client waits for a member`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let desk = try fleet.device("desk")
        let late = try fleet.device("late")
        _ = try desk.call(.createAccount)
        let file = try desk.exportAccount()
        // It is called, does not answer, and is called again.
        desk.blockConnections()
        try late.beginImport(file)
        for _ in 0..<20 {
            fleet.pass(.milliseconds(100))
            _ = try late.status()
        }
        try late.stop()
        // Otherwise the client would still wait, and further calls would follow.
        for _ in 0..<60 {
            fleet.pass(.milliseconds(100))
            _ = try desk.status()
        }
    }

    @Test func `one file admits at most one device`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let members = try fleet.account("desk", "couch")
        let (desk, couch) = (members[0], members[1])
        let rivals = try ["first", "second"].map { try fleet.device($0) }
        let file = try desk.exportAccount()
        try fleet.poll("the couch knows the ticket") { try !couch.status().tickets.isEmpty }

        // Both join at the same time, and call the member that they find first.
        fleet.network.hold()
        for rival in rivals { try rival.beginImport(file) }
        fleet.network.release()

        try fleet.poll("the members agree") {
            let states = try members.map { try $0.status() }
            let lists = try members.map { try Set($0.deviceList().map(\.id)) }
            return lists[0] == lists[1] && states[0].epoch == states[1].epoch
                && states.allSatisfy { $0.tickets.isEmpty && $0.warnings.isEmpty }
        }
        let names = try Set(desk.deviceList().map(\.name))
        #expect(names.isSuperset(of: ["desk", "couch"]))
        #expect(names.count <= 3, "\(names)")
        let published = try desk.publish(Note.activity("for members"))
        try fleet.poll("the members have the offer") {
            try ([couch] + rivals.filter { names.contains($0.name) }).allSatisfy {
                try $0.offers().map(\.id) == [published.activity]
            }
        }
        for rival in rivals where !names.contains(rival.name) {
            #expect(try rival.offers().isEmpty)
        }
    }

    @Test func `members that admitted devices while they were apart agree again`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let members = try fleet.account("desk", "couch")
        let (desk, couch) = (members[0], members[1])
        let guests = try ["phone", "tablet"].map { try fleet.device($0) }
        let files = try [desk.exportAccount(), desk.exportAccount()]
        try fleet.poll("the couch knows the tickets") { try couch.status().tickets.count == 2 }

        try couch.stop()
        try guests[0].importAccount(files[0])
        try fleet.poll("the phone is admitted") {
            try desk.status().tickets.count == 1 && guests[0].status().peers.count == 1
        }
        try desk.stop()
        try guests[0].stop()
        try couch.start()
        try guests[1].importAccount(files[1])
        try fleet.poll("the tablet is admitted") {
            try couch.status().tickets.count == 1 && guests[1].status().peers.count == 1
        }
        try desk.start()
        try guests[0].start()

        try fleet.settle(members + guests)
    }

    @Test func `a device without an account exports nothing`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let desk = try fleet.device("desk")
        let call = try desk.open(ControlMethod.exportAccount.rawValue, upgrade: true)
        #expect(try call.refusal().name == ControlErrorName.noAccount.rawValue)
    }

    @Test func `a member joins no other account`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let desk = try fleet.device("desk")
        let other = try fleet.device("other")
        let account = try #require(try desk.call(.createAccount)["account"]?.string)
        _ = try other.call(.createAccount)
        let before = try desk.status()

        let answer = try desk.offerAccountFile(try other.exportAccount())

        #expect(answer["error"]?.string == ControlErrorName.accountExists.rawValue)
        #expect(answer["account"]?.string == account)
        #expect(try desk.status() == before)
        let again = try desk.open(ControlMethod.createAccount.rawValue)
        #expect(try again.refusal().name == ControlErrorName.accountExists.rawValue)
    }

    enum Damage: CaseIterable {
        case empty
        case cutOff
        case longer
        case changedByte
        case noFile
    }

    @Test(arguments: Damage.allCases) func `a damaged account file changes nothing`(_ damage: Damage) throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let desk = try fleet.device("desk")
        let couch = try fleet.device("couch")
        _ = try desk.call(.createAccount)
        let file = try desk.exportAccount()
        var bad = file
        switch damage {
        case .empty: bad = []
        case .cutOff: bad.removeLast()
        case .longer: bad.append(0)
        case .changedByte: bad[bad.count / 2] ^= 1
        case .noFile: bad = Array("not an account".utf8)
        }

        let answer = try couch.offerAccountFile(bad)

        #expect(answer["error"]?.string == ControlErrorName.invalidAccountFile.rawValue)
        #expect(answer["message"]?.string?.isEmpty == false)
        #expect(try couch.status().account == nil)
        #expect(couch.state.text(of: "account") == nil)
        // The ticket has not been used.
        try couch.importAccount(file)
        try fleet.settle([desk, couch])
    }
}
