import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import Testing

/// How devices become an account, by whole daemons.
@Suite struct JoiningTests {
    @Test func joinsByTicketAndSeesTheFirstActivity() throws {
        let fleet = try Fleet()
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

    @Test func closesTheTicketAndChangesTheKeyAfterTheFirstUse() throws {
        let fleet = try Fleet()
        let desk = try fleet.device("desk")
        let couch = try fleet.device("couch")
        _ = try desk.call(.createAccount)
        let file = try desk.exportAccount()
        let before = try desk.status()
        #expect(before.tickets.map(\.mine) == [true])

        try couch.importAccount(file)
        try fleet.settle([desk, couch])

        let after = try couch.status()
        #expect(after.epoch == before.epoch.map { $0 + 1 })
        #expect(after.tickets.isEmpty)
    }

    @Test func threeDevicesSeeEachOther() throws {
        let fleet = try Fleet()
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

    @Test func theRosterHealsForADeviceThatWasAwayWhenAnotherJoined() throws {
        let fleet = try Fleet()
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

    @Test func aDeviceThatJoinedByAnAbsentMemberMeetsTheOthersLater() throws {
        let fleet = try Fleet()
        let devices = try fleet.account("desk", "couch")
        let (desk, couch) = (devices[0], devices[1])
        let train = try fleet.device("train")
        let file = try desk.exportAccount()
        try fleet.poll("the couch knows the ticket") { try !couch.status().tickets.isEmpty }
        try desk.stop()

        try train.importAccount(file)
        try fleet.settle([couch, train])
        try desk.start()

        try fleet.settle([desk, couch, train])
    }

    @Test func twoImportsOfOneFileCancelEachOther() throws {
        let fleet = try Fleet()
        let members = try fleet.account("desk", "couch")
        let (desk, couch) = (members[0], members[1])
        let first = try fleet.device("first")
        let second = try fleet.device("second")
        let file = try desk.exportAccount()
        try fleet.poll("the couch knows the ticket") { try !couch.status().tickets.isEmpty }

        try couch.stop()
        try first.importAccount(file)
        try fleet.settle([desk, first])
        try desk.stop()
        try first.stop()
        try couch.start()
        try second.importAccount(file)
        try fleet.settle([couch, second])
        try desk.start()
        try first.start()

        try fleet.poll("both newcomers are out") {
            try [desk, couch].allSatisfy { try $0.status().peers.count == 1 && $0.status().warnings.isEmpty }
                && [first, second].allSatisfy {
                    try $0.status().warnings == ["this device was removed from its account"]
                }
        }
        #expect(try Set(desk.deviceList().map(\.name)) == ["desk", "couch"])
        let published = try desk.publish(Note.activity("for members"))
        try fleet.poll("the couch sees it") { try couch.offers().map(\.id) == [published.activity] }
        #expect(try first.offers().isEmpty)
        #expect(try second.offers().isEmpty)
    }

    @Test func withoutAnAccountNothingIsExported() throws {
        let fleet = try Fleet()
        let desk = try fleet.device("desk")
        let call = try desk.open(ControlMethod.exportAccount.rawValue, upgrade: true)
        #expect(try call.refusal().name == ControlErrorName.noAccount.rawValue)
    }

    @Test func aMemberJoinsNoOtherAccount() throws {
        let fleet = try Fleet()
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

    @Test(arguments: Damage.allCases) func aDamagedAccountFileChangesNothing(_ damage: Damage) throws {
        let fleet = try Fleet()
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
        // The ticket was not used up.
        try couch.importAccount(file)
        try fleet.settle([desk, couch])
    }
}
