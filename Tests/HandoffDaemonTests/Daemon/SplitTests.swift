import HandoffAccount
import HandoffControl
import HandoffCrypto
import HandoffDaemon
import HandoffDiscovery
import HandoffJSON
import HandoffModel
import HandoffProtocol
import HandoffState
import HandoffTestSupport
import LoopIO
import Testing

/// Members that changed the account's key while they were apart reconnect, by whole daemons.
@Suite struct SplitTests {
    /// Creates `count` epochs.
    private static func rotate(_ device: TestDevice, _ count: Int) throws {
        for _ in 0..<count { _ = try device.call(.rotateKey) }
    }

    /// The marks in the announcement of a device, with the salt of their creation.
    private static func marks(_ device: TestDevice) throws -> (marks: Marks, salt: [UInt8]) {
        let publication = try #require(device.discovery.publication)
        return try #require(BeaconText.marks(in: publication.text))
    }

    /// Returns whether the announcement of a device has a fresh mark for the device that it shares
    /// these keys with.
    private static func hasMark(_ device: TestDevice, for keys: PairwiseKeys) throws -> Bool {
        let label = try #require(device.discovery.publication.flatMap { Label(instanceName: $0.instance) })
        let (marks, salt) = try marks(device)
        let clock = FleetWallClock(clock: device.fleet.clock).signedUnixSeconds
        let reading = marks.read(
            with: keys, under: label, salt: salt,
            endpoint: Marks.endpoint(
                IPAddress.loopbackIPv4.bytes, port: try #require(device.discovery.publication).port),
            unixSeconds: clock, salts: [])
        if case .period = reading { return true } else { return false }
    }

    /// The keys that a device shares with another one, from their stored state.
    private static func pair(_ device: TestDevice, _ other: TestDevice) throws -> PairwiseKeys {
        let their = try other.openState().identity.publicKey
        let own = try device.openState()
        return try PairwiseKeys(
            device: own.identity, device: their, accountID: try #require(own.account).accountID)
    }

    @Test(arguments: [1, 20]) func `two members reconnect after any number of epochs`(count: Int) throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let devices = try fleet.account("desk", "couch")
        let (desk, couch) = (devices[0], devices[1])
        try couch.stop()
        try Self.rotate(desk, count)
        try desk.stop()
        try couch.start()
        try Self.rotate(couch, count)
        try desk.start()

        try fleet.settle(devices)

        let published = try desk.publish(Note.activity("together"))
        try fleet.poll("the offer") { try couch.offers().map(\.id) == [published.activity] }
    }

    @Test func `a member that has received the other in its own epoch is found`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let devices = try fleet.account("desk", "couch")
        let (desk, couch) = (devices[0], devices[1])
        // The couch has received the desk in its epoch, and so has no mark for it.
        fleet.network.hold()
        couch.blockDatagrams()
        try desk.stop()
        try desk.start()
        try Self.rotate(desk, 20)
        couch.unblockDatagrams()
        #expect(try couch.status().epoch != desk.status().epoch)

        fleet.network.release()

        try fleet.settle(devices)
    }

    /// Its records under the labels before and after a new key may arrive in any order, and the
    /// previous one expires.
    @Test func `a member that creates a key at its start is found after its previous record has expired`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let devices = try fleet.account("desk", "couch")
        let (desk, couch) = (devices[0], devices[1])
        try desk.vanish(unnoticedBy: couch)
        try Self.rotate(couch, 1)
        fleet.network.hold()
        try desk.start()
        let former = try #require(desk.discovery.publication)
        try Self.rotate(desk, 1)
        fleet.pass(.seconds(180))
        try fleet.poll("another record") { desk.discovery.publication?.instance != former.instance }
        let present = try #require(desk.discovery.publication)

        for publication in [present, former] {
            let address = SocketAddress(.loopbackIPv4, port: publication.port)
            couch.discovery.emit(.service(DiscoveredService(publication, addresses: [address])))
        }
        couch.discovery.emit(.removed(instance: former.instance))

        try fleet.settle(devices)
    }

    @Test func `two separated pairs reconnect`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let devices = try fleet.account("a", "b", "c", "d")
        let pairs = [[devices[0], devices[2]], [devices[1], devices[3]]]
        for device in pairs[1] { try device.stop() }
        try Self.rotate(pairs[0][0], 1)
        try fleet.settle(pairs[0])
        for device in pairs[0] { try device.stop() }
        for device in pairs[1] { try device.start() }
        try Self.rotate(pairs[1][0], 1)
        try fleet.settle(pairs[1])

        for device in pairs[0] { try device.start() }

        try fleet.settle(devices)
    }

    /// The first call to it may fail for any reason, such as a busy machine.
    @Test func `a member that did not answer is called again soon`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let devices = try fleet.account("desk", "couch")
        try devices[1].stop()
        _ = try devices[0].call(.rotateKey)
        fleet.network.hold()
        try devices[1].start()
        for device in devices { device.blockConnections() }
        let failures = { (device: TestDevice) in device.log.count { $0.contains("Call failed") } }
        let before = devices.map(failures)
        fleet.network.release()
        try fleet.poll("neither has answered") { zip(devices, before).allSatisfy { failures($0) > $1 } }

        for device in devices { device.unblockConnections() }

        try fleet.settle(devices)
    }

    @Test func `a split member is found among three hundred foreign services`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let devices = try fleet.account("desk", "couch")
        let (desk, couch) = (devices[0], devices[1])
        try couch.stop()
        try Self.rotate(desk, 1)
        try desk.stop()
        try couch.start()
        try Self.rotate(couch, 1)
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

    @Test func `marks change with every beacon and the record has one size`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let devices = try fleet.account("desk", "couch", "train")
        let (desk, couch, train) = (devices[0], devices[1], devices[2])
        let pairs = try [couch, train].map { other in
            for device in devices { try device.stop() }
            defer { for device in devices { try? device.start() } }
            return try Self.pair(desk, other)
        }
        func size() throws -> Int {
            try #require(desk.discovery.publication).text.reduce(0) { $0 + 1 + $1.count }
        }
        func renewed() throws {
            let published = desk.discovery.publicationCount
            let note = try desk.publish(Note.activity("news"))
            try fleet.poll("the beacon is renewed") { desk.discovery.publicationCount > published }
            note.close()
        }
        try fleet.settle(devices)
        // The desk has received their announcements of the current epoch.
        try renewed()
        let former = try Self.marks(desk)
        #expect(try size() == BeaconText.recordCount)
        for keys in pairs { #expect(try !Self.hasMark(desk, for: keys)) }
        try renewed()
        let present = try Self.marks(desk)
        #expect(zip(former.marks.bytes, present.marks.bytes).count { $0 == $1 } < 24)
        #expect(former.salt != present.salt)

        // Under another key no device has been received yet.
        for device in [couch, train] { try device.stop() }
        _ = try desk.call(.rotateKey)
        // A record that was due before may precede it.
        try fleet.poll("a record with both marks") { try pairs.allSatisfy { try Self.hasMark(desk, for: $0) } }
        #expect(try size() == BeaconText.recordCount)
    }

    @Test func `a ticket gets a mark until it is closed`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let desk = try fleet.device("desk")
        _ = try desk.call(.createAccount)
        let file = try AccountFile(decoding: SecretBytes(copying: desk.exportAccount()))
        let ticket = try SigningKey(seed: file.ticketSeed)
        try desk.stop()
        let identity = try desk.openState().identity
        try desk.start()
        let keys = try PairwiseKeys(
            ticket: ticket, device: identity.publicKey, accountID: file.roster.accountID)
        #expect(try Self.hasMark(desk, for: keys))
        let id = try #require(try desk.status().tickets.first?.id)
        _ = try desk.call(.revokeExport, ["ticket": .string(id)])
        _ = try desk.publish(Note.activity("news"))
        try fleet.poll("the mark goes with the next beacon") { try !Self.hasMark(desk, for: keys) }
    }

    @Test func `a removed device with all previous secrets gets nothing`() throws {
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
        // It still considers itself a member, and searches for the missing members.
        try thief.start()
        try desk.start()

        let publication = try #require(desk.discovery.publication)
        let label = try #require(Label(instanceName: publication.instance))
        #expect(try keys.allSatisfy { try !Self.hasMark(desk, for: $0) })
        // The attacker marks the desk, which does not search for it.
        let server = try desk.status().device
        for pair in keys {
            let call = RawConnection(
                to: desk.address, writing: try Self.opening(pair.gate, label, stolen, to: server), fleet)
            try call.awaitEnd()
            #expect(call.received.isEmpty)
        }
        for _ in 0..<5 {
            fleet.pass(.seconds(61))
            #expect(try thief.status().peers.isEmpty)
            #expect(try desk.status().peers.isEmpty)
        }
        // A device that has not learned of the removal may still trust it.
        try thief.stop()
        try couch.start()
        try fleet.poll("the members are together") {
            try [desk, couch].allSatisfy { try $0.status().peers.count == 1 && $0.status().warnings.isEmpty }
        }
        #expect(try desk.deviceList().count == 2)
    }

    /// The first bytes of a caller with this gate key.
    private static func opening(
        _ gate: SecretBytes, _ label: Label, _ key: SigningKey, to server: DeviceID
    ) throws -> [UInt8] {
        let context = try TLSContext(identity: TLSIdentity(key: key), role: .client)
        let hello = try #require(TLSSession(context: context, accepts: { _ in true }).start())
        let greeting = Gate.Greeting(hello, to: server)
        let serial = Gate.Serial(generation: 1, call: 1)
        return Gate.token(key: gate, hint: .pair, serial: serial, label: label, greeting) + hello
    }
}
