import HandoffAccount
import HandoffControl
import HandoffCrypto
import HandoffDiscovery
import HandoffModel
import HandoffProtocol
import HandoffState
import HandoffTestSupport
import LoopIO
import Testing

@Suite struct EarlierVersionTests {
    /// With such a title, the body of an earlier version, read behind the current header, is an
    /// announcement of an unknown device.
    @Test(arguments: [nil, String(repeating: "t", count: 12)])
    func `a member with an earlier version is logged once and shown in the status`(title: String?) throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let devices = try fleet.account("desk", "couch")
        let (desk, couch) = (devices[0], devices[1])
        try couch.stop()
        let (id, service) = try Self.record(of: couch, title: title)

        for _ in 1...2 { desk.discovery.emit(.service(service)) }

        let warning = "couch (\(id.short)) uses another version of the protocol: update Handoff there"
        try fleet.poll("the warning") { try desk.status().warnings == [warning] }
        #expect(desk.log.count { $0.contains("another version of the protocol") } == 1)
        #expect(try desk.status().peers.isEmpty)
        try couch.start()
        try fleet.settle(devices)
    }

    private static func activity(titled title: String) throws -> ActivitySummary {
        ActivitySummary(
            id: try #require(ActivityID(bytes: [UInt8](repeating: 5, count: ActivityID.byteCount))),
            type: try #require(ActivityType("com.example.notes.edit")), title: title, team: nil, supportsStreams: false,
            hasWebpageURL: false, age: 1)
    }

    /// The record of the device in the earlier layout.
    private static func record(of device: TestDevice, title: String?) throws -> (DeviceID, DiscoveredService) {
        let stored = try device.openState()
        let keys = try #require(stored.account?.held?.keys)
        let id = DeviceID(stored.identity.publicKey)
        let label = Label.random(labelKey: keys.label)
        let announcement = try #require(
            Announcement(
                deviceID: id, position: Position(generation: Position.maxGeneration, seq: 1), port: 9, kind: .laptop,
                rosterDigest: [UInt8](repeating: 0, count: 8), listSeq: 1,
                activities: try title.map { try [activity(titled: $0)] } ?? []))
        let body = announcement.encode(capacity: BeaconSeal.bodyCount)
        let input = Array("handoff/1 beacon sig".utf8) + [0] + label.bytes + body
        let signed = body + (try stored.identity.sign(input))
        let text = try BeaconSeal.seal(
            signed, label: label, beaconKey: keys.beacon, marking: [], salt: [UInt8](repeating: 1, count: 16))
        let service = DiscoveredService(
            instance: label.instanceName, text: text, port: 9, addresses: [SocketAddress(.loopbackIPv4, port: 9)])
        return (id, service)
    }
}
