import HandoffAccount
import HandoffCrypto
import HandoffModel
import HandoffPeers
import HandoffProtocol
import HandoffState
import HandoffTestSupport
import Testing

/// Members exchange the records of kept activities.
@Suite final class KeptSyncTests {
    private let network: PeersNetwork
    private let desk: TestPeers
    private let couch: TestPeers
    private let server: TestPeers

    init() throws {
        network = try PeersNetwork()
        let devices = try network.account("desk", "couch", "server")
        (desk, couch, server) = (devices[0], devices[1], devices[2])
        for device in devices { device.peers.kept.isOn = true }
    }

    deinit {
        network.end()
    }

    private func kept(at device: TestPeers) -> [ActivityID] {
        device.peers.kept.store.activities.map(\.summary.id)
    }

    @Test func `records that are pushed arrive at all members once`() throws {
        let activity = ActivityID(checked: [UInt8](repeating: 7, count: 16))
        let copy = try desk.copy(of: activity, time: network.unixSeconds)
        var outcome: KeptSync.Outcome?
        desk.peers.kept.push([.copy(copy)]) { outcome = $0 }
        try network.run("the answers") { outcome != nil }
        #expect(outcome?.confirmed == [couch.id, server.id])
        for device in [desk, couch, server] { #expect(kept(at: device) == [activity]) }
        #expect(couch.receivedKept.count == 1)
    }

    @Test func `a member that returns fetches the records of one that kept them`() throws {
        let activity = ActivityID(checked: [UInt8](repeating: 7, count: 16))
        couch.stop()
        desk.peers.kept.push([.copy(try desk.copy(of: activity, time: network.unixSeconds))])
        try network.run("the server has it") { kept(at: server) == [activity] }
        desk.stop()
        try couch.start()
        couch.peers.kept.isOn = true
        try network.run("the couch has it") { kept(at: couch) == [activity] }
    }
}

extension TestPeers {
    /// Returns the signed copy of an activity of this device.
    func copy(of activity: ActivityID, time: UInt64, text: String = "{}") throws -> KeptCopy {
        let payload = Array(#"{"type":"com.example.note","userInfo":\#(text)}"#.utf8)
        let stamp = KeptStamp(position: peers.position, time: time)
        return try #require(
            try KeptCopy(
                origin: id, stamp: stamp, activity: activity, end: time + 3_600, payload: payload, key: key))
    }
}
