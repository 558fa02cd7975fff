import HandoffAccount
import HandoffControl
import HandoffCrypto
import HandoffDaemon
import HandoffDiscovery
import HandoffModel
import HandoffProtocol
import HandoffTLS
import HandoffTestSupport
import LoopIO
import Testing

/// Members that changed the account's key while they were apart meet again, by whole daemons.
@Suite struct SplitTests {
    /// Longer than a file stays open that nobody uses; its end makes an epoch.
    private static let ticketLife = Duration.seconds(25 * 3600)

    /// Makes `count` epochs on devices of which one exports an account file that nobody uses.
    private static func rotate(_ exporter: TestDevice, _ count: Int, _ fleet: Fleet) throws {
        for _ in 0..<count {
            let before = try exporter.status().epoch ?? 0
            _ = try exporter.exportAccount()
            fleet.pass(ticketLife)
            try fleet.poll("another epoch") {
                let status = try exporter.status()
                return status.tickets.isEmpty && (status.epoch ?? 0) > before
            }
        }
    }

    /// The marks of what a device publishes.
    private static func marks(_ device: TestDevice) throws -> Marks {
        let publication = try #require(device.discovery.publication)
        return try #require(BeaconText.marks(in: publication.text))
    }

    /// Keys that a device shares with another one, by what the first has stored.
    private static func pair(_ device: TestDevice, _ other: TestDevice) throws -> PairKeys {
        let their = try other.openState().identity.publicKey
        let own = try device.openState()
        return try PairKeys(own: own.identity, other: their, accountID: try #require(own.account).accountID)
    }

    @Test(arguments: [1, 20]) func twoMembersMeetAgainHoweverManyEpochsEachMade(count: Int) throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let devices = try fleet.account("desk", "couch")
        let (desk, couch) = (devices[0], devices[1])
        try couch.stop()
        try Self.rotate(desk, count, fleet)
        try desk.stop()
        try couch.start()
        try Self.rotate(couch, count, fleet)
        try desk.start()

        try fleet.settle(devices)

        let published = try desk.publish(Note.activity("together"))
        try fleet.poll("the offer") { try couch.offers().map(\.id) == [published.activity] }
    }

    @Test func aMemberThatRanOnInAnEpochThatIsForgottenIsFound() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let devices = try fleet.account("desk", "couch")
        let (desk, couch) = (devices[0], devices[1])
        // The couch has heard the desk in its epoch, and so has no mark for it.
        fleet.air.hold()
        couch.blockDatagrams()
        try desk.stop()
        try desk.start()
        try Self.rotate(desk, FormerEpoch.mostKept + 1, fleet)
        couch.unblockDatagrams()
        #expect(try couch.status().epoch != desk.status().epoch)

        fleet.air.release()

        try fleet.settle(devices)
    }

    @Test func twoPairsMeetAgain() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let devices = try fleet.account("a", "b", "c", "d")
        let pairs = [[devices[0], devices[2]], [devices[1], devices[3]]]
        for device in pairs[1] { try device.stop() }
        try Self.rotate(pairs[0][0], 1, fleet)
        try fleet.settle(pairs[0])
        for device in pairs[0] { try device.stop() }
        for device in pairs[1] { try device.start() }
        try Self.rotate(pairs[1][0], 1, fleet)
        try fleet.settle(pairs[1])

        for device in pairs[0] { try device.start() }

        try fleet.settle(devices)
    }

    /// The first call to it may fail for any reason, as where a machine is busy.
    @Test func aMemberThatDidNotAnswerIsCalledAgainSoon() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let devices = try fleet.account("desk", "couch")
        try devices[1].stop()
        _ = try devices[0].call(.rotateKey)
        fleet.air.hold()
        try devices[1].start()
        for device in devices { device.blockConnections() }
        let failures = { (device: TestDevice) in device.log.count { $0.contains("Call failed") } }
        let before = devices.map(failures)
        fleet.air.release()
        try fleet.poll("neither has answered") { zip(devices, before).allSatisfy { failures($0) > $1 } }

        for device in devices { device.unblockConnections() }

        try fleet.settle(devices)
    }

    @Test func aSplitMemberIsFoundAmongThreeHundredForeignServices() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let devices = try fleet.account("desk", "couch")
        let (desk, couch) = (devices[0], devices[1])
        try couch.stop()
        try Self.rotate(desk, 1, fleet)
        try desk.stop()
        try couch.start()
        try Self.rotate(couch, 1, fleet)
        for _ in 0..<300 {
            let label = try #require(Label(bytes: Randomness.bytes(Label.byteCount)))
            let marks = Array("m=".utf8) + Randomness.bytes(Marks.byteCount)
            couch.discovery.emit(
                .service(
                    DiscoveredService(
                        instance: label.instanceName, text: [Array("v=1".utf8), marks], port: 9,
                        addresses: [SocketAddress(.loopbackIPv4, port: 9)])))
        }

        try desk.start()

        try fleet.settle(devices)
        #expect(try couch.status().peers.count == 1)
    }

    @Test func marksLastAsLongAsTheLabelAndTheRecordHasOneSize() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let devices = try fleet.account("desk", "couch", "train")
        let (desk, couch, train) = (devices[0], devices[1], devices[2])
        func size() throws -> Int {
            try #require(desk.discovery.publication).text.reduce(0) { $0 + 1 + $1.count }
        }
        // What the desk sees of them was said in the present epoch.
        let notes = try [couch, train].map { try $0.publish(Note.activity($0.name)) }
        try fleet.poll("the offers") {
            try Set(desk.offers().map(\.id)) == Set(notes.map(\.activity))
        }
        let (label, marks) = (desk.discovery.publication?.instance, try Self.marks(desk))
        #expect(try size() == BeaconText.recordCount)
        try train.stop()
        let published = desk.discovery.publicationCount
        _ = try desk.publish(Note.activity("news"))
        try fleet.poll("the beacon is renewed") { desk.discovery.publicationCount > published }
        #expect(desk.discovery.publication?.instance == label)
        #expect(try Self.marks(desk) == marks)
        #expect(try size() == BeaconText.recordCount)

        // A new label in the same epoch: the couch was heard in it, and so was the train.
        let own = try #require(label)
        desk.discovery.emit(.conflict(instance: own))
        try fleet.run("a new label") { desk.discovery.publication.map { $0.instance != own } ?? false }
        let (present, new) = (try #require(desk.discovery.publication?.instance), try Self.marks(desk))
        #expect(new != marks)
        #expect(try size() == BeaconText.recordCount)
        try couch.stop()
        try desk.stop()
        let name = try #require(Label(instanceName: present))
        for other in [couch, train] {
            #expect(try !new.contains(Self.pair(desk, other).mark(under: name)))
        }

        // After a start nobody has been heard yet.
        try desk.start()
        let first = try #require(desk.discovery.publication?.instance)
        let missed = try Self.marks(desk)
        try desk.stop()
        let firstLabel = try #require(Label(instanceName: first))
        for other in [couch, train] {
            #expect(try missed.contains(Self.pair(desk, other).mark(under: firstLabel)))
        }
    }

    @Test func aRemovedDeviceWithAllFormerSecretsGetsNothing() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let devices = try fleet.account("desk", "couch", "thief")
        let (desk, couch, thief) = (devices[0], devices[1], devices[2])
        for device in devices { try device.stop() }
        let stolen = try thief.openState().identity
        try desk.editAccount {
            try $0.removing(DeviceID(stolen.publicKey), keeping: [], by: $1, now: fleet.unixSeconds)
        }
        let keys = try [desk, couch].map { try Self.pair(thief, $0) }
        // It still believes that it is a member, and looks for those whom it misses.
        try thief.start()
        try desk.start()

        let publication = try #require(desk.discovery.publication)
        let label = try #require(Label(instanceName: publication.instance))
        let marks = try Self.marks(desk)
        #expect(keys.allSatisfy { !marks.contains($0.mark(under: label)) })
        // The thief marks the desk, which knows better than to look for it.
        for pair in keys {
            let call = RawConnection(
                to: desk.address, writing: try Self.opening(pair.gate, label, stolen), fleet)
            try call.awaitEnd()
            #expect(call.received.isEmpty)
        }
        for _ in 0..<5 {
            fleet.pass(.seconds(61))
            #expect(try thief.status().peers.isEmpty)
            #expect(try desk.status().peers.isEmpty)
        }
        // Who has not heard of the removal may still believe it.
        try thief.stop()
        try couch.start()
        try fleet.poll("the members are together") {
            try [desk, couch].allSatisfy { try $0.status().peers.count == 1 && $0.status().warnings.isEmpty }
        }
        #expect(try desk.deviceList().count == 2)
    }

    /// What a caller with this gate key writes first.
    private static func opening(_ gate: SecretBytes, _ label: Label, _ key: SigningKey) throws -> [UInt8] {
        let context = try TLSContext(identity: TLSIdentity(key: key), role: .client)
        let hello = try #require(TLSSession(context: context, accepts: { _ in true }).start())
        return Gate.token(gateKey: gate, label: label, clientHello: hello) + hello
    }
}
