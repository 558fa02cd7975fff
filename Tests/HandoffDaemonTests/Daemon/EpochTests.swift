import HandoffAccount
import HandoffControl
import HandoffDiscovery
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import Testing

/// Changes of the account key and their distribution, by whole daemons.
@Suite struct EpochTests {
    /// Cuts all routes between two devices that know each other, after their connections are
    /// closed.
    private func part(_ left: TestDevice, _ right: TestDevice, in fleet: Fleet) throws {
        fleet.network.hold()
        for device in [left, right] {
            device.blockDatagrams()
            device.blockConnections()
        }
        // Idle connections are closed after two minutes.
        fleet.pass(.seconds(200))
        try fleet.poll("they are apart") {
            try [left, right].allSatisfy { try $0.status().peers.allSatisfy { !$0.connected } }
        }
    }

    private func join(_ left: TestDevice, _ right: TestDevice, in fleet: Fleet) {
        for device in [left, right] {
            device.unblockDatagrams()
            device.unblockConnections()
        }
        fleet.network.release()
    }

    @Test func `two devices that each create a key while apart agree on one`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let members = try fleet.account("desk", "couch")
        let before = try #require(try members[0].status().epoch)
        try part(members[0], members[1], in: fleet)

        for member in members { _ = try member.call(.rotateKey) }
        for member in members { #expect(try member.status().epoch == before + 1) }
        join(members[0], members[1], in: fleet)

        let watcher = try members[1].watch()
        try watcher.ready()
        try fleet.settle(members)
        #expect(try members[0].status().epoch == before + 1)
        let published = try members[0].publish(Note.activity("under one key"))
        #expect(try watcher.added().id == published.activity)
        for member in members { #expect(try member.deviceList().allSatisfy(\.current)) }
    }

    @Test func `all agree on the monthly key`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let members = try fleet.account("desk", "couch", "train")
        let before = try #require(try members[0].status().epoch)

        // After 30 days and 3 of jitter, all are due immediately, as after a month of sleep.
        fleet.pass(.seconds(34 * 24 * 3600))
        try fleet.poll("all are online again") { try members.allSatisfy { try $0.status().peers.count == 2 } }
        // A device that found no other online checks again after an hour. The hour must not pass
        // while a key is in transit. Reading the files does not run the loop.
        let stored = try members.map { try $0.storedAccount() }
        if stored.allSatisfy({ $0?.isCurrent == true && $0?.epoch.map(UInt64.init) == before }) {
            fleet.pass(.seconds(3601))
        }
        try fleet.poll("a new key is in force") { try members.allSatisfy { try $0.status().epoch != before } }
        try fleet.settle(members)
        let later = fleet.unixSeconds + 4
        try fleet.run("every member's turn is over") { fleet.unixSeconds >= later }
        try fleet.settle(members)

        // A member whose turn is due before it has received the first record creates another with
        // the same number.
        #expect(try members[0].status().epoch == before + 1)
    }
}
