import HandoffControl
import HandoffCrypto
import HandoffDiscovery
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

/// An unknown device that repeats the records of members cannot identify them. Devices whose clocks
/// disagree still find each other.
@Suite struct TrackingTests {
    /// The content of a record that is copied in one network and repeated in another one.
    enum Copied: CaseIterable {
        case beacon
        case markOfAnotherEpoch
        case markForATicket
        case ownBeacon
    }

    /// The age of the copy.
    private static let ages: [Duration] = [.seconds(600), .seconds(86_400), .seconds(30 * 86_400)]

    /// Returns the copied record of one device, and a function that restarts the device to which it
    /// is repeated.
    private static func copy(
        _ copied: Copied, _ fleet: Fleet
    ) throws -> (Publication, start: (Duration) throws -> TestDevice) {
        if copied == .markForATicket {
            let desk = try fleet.device("desk")
            let couch = try fleet.device("couch")
            _ = try desk.call(.createAccount)
            let file = try desk.exportAccount()
            try desk.stop()
            let publication = try Self.firstPublication(of: desk)
            return (
                publication,
                {
                    fleet.pass($0)
                    try couch.beginImport(file)
                    return couch
                }
            )
        }
        let devices = try fleet.account("desk", "couch")
        let (desk, couch) = (devices[0], devices[1])
        var publication = try #require((copied == .ownBeacon ? couch : desk).discovery.publication)
        if copied == .markOfAnotherEpoch {
            try couch.stop()
            _ = try desk.call(.rotateKey)
        }
        for device in devices { try device.stop() }
        if copied == .markOfAnotherEpoch { publication = try Self.firstPublication(of: desk) }
        return (
            publication,
            {
                fleet.pass($0)
                try couch.start()
                return couch
            }
        )
    }

    /// Returns the first record of a device that was off. It has marks for all missing members.
    private static func firstPublication(of device: TestDevice) throws -> Publication {
        try device.start()
        let publication = try #require(device.discovery.publication)
        try device.stop()
        return publication
    }

    @Test(arguments: Copied.allCases, ages) func `an old record makes no device send anything`(
        _ copied: Copied, _ age: Duration
    ) throws {
        for isElsewhere in [true, false] {
            let fleet = try Fleet()
            defer { fleet.end() }
            let (publication, start) = try Self.copy(copied, fleet)
            let device = try start(age)
            // Beacons and marks are valid for the port of their record.
            let trap = try Trap(isElsewhere: isElsewhere, port: publication.port)

            device.discovery.emit(trap.record(publication))

            // A record has its effect within seconds. The records that the device seals meanwhile
            // show that time has passed.
            for _ in 1...2 {
                let published = device.discovery.publicationCount
                fleet.pass(.seconds(250))
                try fleet.poll("time passes") { device.discovery.publicationCount > published }
            }
            #expect(!trap.isHit)
        }
    }

    @Test(arguments: Copied.allCases) func `a record at another address makes no device send anything`(
        _ copied: Copied
    ) throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let (publication, start) = try Self.copy(copied, fleet)
        let device = try start(.zero)
        let trap = try Trap(isElsewhere: true, port: publication.port)

        device.discovery.emit(trap.record(publication))

        let published = device.discovery.publicationCount
        fleet.pass(.seconds(10))
        try fleet.poll("time passes") { device.discovery.publicationCount > published }
        for _ in 1...3 { _ = try device.status() }
        #expect(!trap.isHit)
    }

    @Test func `a new epoch does not change the times at which records are sealed`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let desk = try fleet.device("desk")
        _ = try desk.call(.createAccount)
        func seals(_ seconds: Int64) throws -> Int {
            let before = desk.discovery.publicationCount
            fleet.pass(.seconds(seconds))
            for _ in 1...3 { _ = try desk.status() }
            return desk.discovery.publicationCount - before
        }
        // The first record under a label is sealed again after 1 and 3 s, and then every 4 minutes.
        try fleet.poll("the record") { desk.discovery.publication != nil }
        while try seals(10) > 0 {}
        var instance: String?
        var count = 0

        // The label changes at a random time within 3 minutes of a new epoch. Then the next epoch
        // shows the times.
        repeat {
            let before = desk.discovery.publicationCount
            _ = try desk.call(.rotateKey)
            try fleet.poll("the record of the new epoch") { desk.discovery.publicationCount > before }
            instance = desk.discovery.publication?.instance
            count = 0
            for _ in 1...4 { count += try seals(1) }
        } while desk.discovery.publication?.instance != instance

        #expect(count == 0)
    }

    /// Two days, ten years, and a time before 1970, in seconds.
    private static let differences: [Int64] = [2 * 86_400, 3650 * 86_400, -1_800_000_000 - 86_400]

    @Test(arguments: differences, [true, false]) func `members find each other whatever their clocks`(
        difference: Int64, isNewcomer: Bool
    ) throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let devices = try fleet.account("desk", "couch")
        let (desk, couch) = (devices[0], devices[1])
        for device in devices { try device.stop() }
        couch.clockDifference.withLock { $0 = difference }
        // The device that is online first may be the one whose clock is wrong.
        let (first, second) = isNewcomer ? (desk, couch) : (couch, desk)
        try first.start()
        fleet.pass(.seconds(600))
        let published = first.discovery.publicationCount
        try fleet.poll("the record is sealed again") { first.discovery.publicationCount > published }

        try second.start()

        try fleet.poll("both are online") { try devices.allSatisfy { try $0.status().peers.count == 1 } }
        let note = try first.publish(Note.activity("found"))
        try fleet.poll("the offer") { try second.offers().map(\.id) == [note.activity] }
    }

    @Test(arguments: differences) func `members in two epochs find each other whatever their clocks`(
        difference: Int64
    ) throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let devices = try fleet.account("desk", "couch")
        let (desk, couch) = (devices[0], devices[1])
        try couch.stop()
        _ = try desk.call(.rotateKey)
        try desk.stop()
        couch.clockDifference.withLock { $0 = difference }
        try couch.start()
        _ = try couch.call(.rotateKey)

        try desk.start()

        try fleet.poll("they are connected again") {
            let states = try devices.map { try $0.status() }
            return states.allSatisfy { $0.peers.count == 1 } && Set(states.map(\.epoch)).count == 1
        }
    }

    @Test(arguments: differences) func `a device joins by a file whatever its clock`(difference: Int64) throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let desk = try fleet.device("desk")
        _ = try desk.call(.createAccount)
        let couch = try fleet.device("couch") { device in device.clockDifference.withLock { $0 = difference } }
        // By now the records that the desk has sealed for the file are old.
        let file = try desk.exportAccount()
        fleet.pass(.seconds(1200))

        try couch.importAccount(file)

        try fleet.poll("the couch is a member") { try desk.status().peers.count == 1 }
    }

    @Test func `a joining device looks like any other and answers no call`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let desk = try fleet.device("desk")
        _ = try desk.call(.createAccount)
        let couch = try fleet.device("couch")
        let file = try desk.exportAccount()
        let present = try #require(desk.discovery.publication)
        try desk.stop()

        try couch.beginImport(file)

        try fleet.poll("it is announced") { couch.discovery.publication != nil }
        let joining = try #require(couch.discovery.publication)
        #expect(joining.instance.utf8.count == present.instance.utf8.count)
        #expect(joining.text.map(\.count) == present.text.map(\.count))
        #expect(joining.text[0] == present.text[0])
        #expect(zip(joining.text, present.text).dropFirst().allSatisfy { $0 != $1 })
        let call = RawConnection(to: couch.address, writing: [UInt8](repeating: 7, count: 64), fleet)
        fleet.pass(.seconds(2))
        try call.awaitEnd()
        #expect(call.received.isEmpty)
    }
}
