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

    @Test func `a record that its origin could not send to all is forwarded`() throws {
        let activity = ActivityID(checked: [UInt8](repeating: 7, count: 16))
        // The desk reaches only the server: its hello to the couch would show that it keeps activities.
        try network.connect(desk, to: server)
        try network.connect(couch, to: server)
        couch.vanish(unnoticedBy: server)
        try network.poll("the desk notices") { desk.peers.table[couch.id] == nil }
        desk.peers.kept.push([.copy(try desk.copy(of: activity, time: network.unixSeconds))])
        try network.run("the server has it") { kept(at: server) == [activity] }
        try couch.start()
        couch.peers.kept.isOn = true
        try network.run("the couch has it") { kept(at: couch) == [activity] }
        #expect(couch.peers.kept.store.digest == desk.peers.kept.store.digest)
    }

    @Test func `a member that stops keeping activities forgets all, and receives none`() throws {
        let first = ActivityID(checked: [UInt8](repeating: 7, count: 16))
        let second = ActivityID(checked: [UInt8](repeating: 8, count: 16))
        var outcome: KeptSync.Outcome?
        desk.peers.kept.push([.copy(try desk.copy(of: first, time: network.unixSeconds))]) { outcome = $0 }
        try network.run("the answers") { outcome != nil }
        couch.peers.kept.isOn = false
        #expect(kept(at: couch).isEmpty)
        try network.run("the desk knows") { desk.peers.kept.keepers == [server.id] }
        outcome = nil
        desk.peers.kept.push([.copy(try desk.copy(of: second, time: network.unixSeconds + 1))]) { outcome = $0 }
        try network.run("the answers") { outcome != nil }
        #expect(outcome?.confirmed == [server.id] && kept(at: couch).isEmpty)
        #expect(couch.peers.kept.store.isEmpty)
        couch.peers.kept.isOn = true
        try network.run("the couch has both") { kept(at: couch).count == 2 }
    }

    @Test func `a key rotation loses nothing, and a removal drops the records of the device`() throws {
        let activity = ActivityID(checked: [UInt8](repeating: 7, count: 16))
        var outcome: KeptSync.Outcome?
        couch.peers.kept.push([.copy(try couch.copy(of: activity, time: network.unixSeconds))]) { outcome = $0 }
        try network.run("the answers") { outcome != nil }
        outcome = nil
        desk.peers.kept.push([.copy(try desk.copy(of: activity, time: network.unixSeconds))]) { outcome = $0 }
        try network.run("the answers") { outcome != nil }
        #expect(kept(at: server).count == 2)
        desk.accountStore.remove(couch.id, dropping: []) { _ in }
        try network.run("the server knows of the removal") { !server.accountStore.snapshot.live.contains(couch.id) }
        #expect(server.peers.kept.store.activities.map(\.origin) == [desk.id])
        #expect(desk.peers.kept.store.activities.map(\.origin) == [desk.id])
        try network.settle([desk, server])
        #expect(server.peers.kept.store.activities.map(\.origin) == [desk.id], "the new epoch removes nothing")
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
