import Glibc
import HandoffControl
import HandoffDiscovery
import HandoffJSON
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

/// The presence of whole daemons, as the others see it.
@Suite final class PresenceTests {
    private let fleet: Fleet
    private let desk: TestDevice
    private let couch: TestDevice

    init() throws {
        fleet = try Fleet()
        let devices = try fleet.account("desk", "couch")
        (desk, couch) = (devices[0], devices[1])
    }

    deinit {
        fleet.end()
    }

    /// A watcher on the couch that has received the one offer of the desk.
    private func watchOne() throws -> (Watcher, Publisher) {
        var activity = Note.activity("present")
        activity.keep = false
        let published = try desk.publish(activity)
        try fleet.poll("the offer") { try couch.offers().count == 1 }
        let watcher = try couch.watch()
        #expect(try watcher.added().id == published.activity)
        try watcher.ready()
        return (watcher, published)
    }

    @Test func `a leave message removes the offers immediately`() throws {
        let (watcher, published) = try watchOne()
        // mDNS does not report it.
        couch.discovery.stopReceiving()
        try desk.stop()
        #expect(try watcher.removed().id == published.activity)
        try fleet.poll("the desk is offline") { try couch.status().peers.isEmpty }
        #expect(try couch.deviceList().first { $0.name == "desk" }?.online == false)
    }

    @Test func `a daemon that stops makes no further calls`() throws {
        let discovery = desk.discovery
        discovery.stopSlowly()
        couch.blockConnections()
        // The couch's service may then be announced again within a second, while the desk still
        // waits for the withdrawal of its own.
        fleet.pass(.seconds(3))
        _ = try couch.status()
        let hasStopped = try #require(desk.beginToStop())
        // Changes that it would fetch over a connection, of which none is left: a new name, and a
        // list too long for an announcement.
        _ = try couch.call(.renameDevice, ["device": "couch", "name": "sofa"])
        for number in 0..<20 { _ = try couch.publish(Note.activity("after the goodbye \(number)")) }
        let beacon = try #require(couch.discovery.publication)
        try fleet.poll("the desk has detected it") {
            guard let present = couch.discovery.publication else { return false }
            return present != beacon && discovery.known.contains(present.instance)
        }
        discovery.withdraw()
        try fleet.run("the desk has stopped") { hasStopped.withLock { $0 } }
        // A call that it had started would end now, and trap because the daemon has ended.
        fleet.pass(.seconds(30))
        #expect(try couch.offers().isEmpty)
    }

    @Test func `a daemon that restarts replaces its offers`() throws {
        let (watcher, before) = try watchOne()
        try desk.vanish(unnoticedBy: couch)
        try desk.start()
        let after = try desk.publish(Note.activity("after the start"))

        var removed: [ActivityID] = []
        var added: [ActivityID] = []
        while added.isEmpty || removed.isEmpty {
            switch try watcher.next() {
            case .added(let offer): added.append(offer.id)
            case .removed(let offer): removed.append(offer.id)
            case .changed, .ready: break
            }
        }
        #expect(removed == [before.activity])
        #expect(added == [after.activity])
        #expect(try couch.offers().map(\.id) == [after.activity])
    }

    @Test func `a removal in multicast DNS only triggers a probe`() throws {
        let (watcher, _) = try watchOne()
        let instance = try #require(desk.discovery.publication?.instance)
        couch.discovery.emit(.removed(instance: instance))
        // Longer than the timeout of any probe.
        for _ in 0..<5 {
            fleet.pass(.seconds(1))
            _ = try couch.status()
            _ = try desk.status()
        }

        let next = try desk.publish(Note.activity("still here"))
        #expect(try watcher.added().id == next.activity)
        #expect(try couch.status().peers.count == 1)
    }

    @Test func `a removal of a device that is offline removes it`() throws {
        let (watcher, published) = try watchOne()
        let instance = try #require(desk.discovery.publication?.instance)
        try desk.vanish(unnoticedBy: couch)
        couch.discovery.emit(.removed(instance: instance))
        #expect(try watcher.removed().id == published.activity)
        try fleet.poll("the desk is offline") { try couch.status().peers.isEmpty }
    }

    @Test func `changes arrive by the beacon if nothing else does`() throws {
        let watcher = try couch.watch()
        try watcher.ready()
        couch.blockDatagrams()
        couch.blockConnections()
        let published = try desk.publish(Note.activity("by beacon"))
        #expect(try watcher.added().id == published.activity)
    }

    @Test func `a delayed announcement is applied with its current state`() throws {
        let train = try fleet.device("train")
        try train.importAccount(try desk.exportAccount())
        try fleet.settle([desk, couch, train])
        try train.stop()
        fleet.network.hold()
        try train.start()
        let first = try train.publish(Note.activity("first"))
        first.close()
        let second = try train.publish(Note.activity("second"))
        #expect(try desk.offers().isEmpty)
        fleet.network.release()
        try fleet.settle([desk, couch, train])
        try fleet.poll("the last state") {
            try [desk, couch].allSatisfy { try $0.offers().map(\.id) == [second.activity] }
        }
    }

    @Test func `the older of two daemons on copies of one state folder stops announcing`() throws {
        let clone = try fleet.device("clone") { clone in
            for file in ["identity", "account", "boot"] {
                copy(couch.state.file(file), to: clone.state.file(file))
            }
        }

        try fleet.poll("the older one reports it") {
            try couch.status().warnings.contains { $0.contains("this device's identity") }
        }
        #expect(couch.discovery.publication == nil)
        #expect(try clone.status().warnings.isEmpty)
        _ = try couch.publish(Note.activity("not told"))
        let theirs = try clone.publish(Note.activity("told"))
        let ours = try desk.publish(Note.activity("heard"))
        try fleet.poll("the offer of the newer one arrives") { try desk.offers().map(\.id) == [theirs.activity] }
        try fleet.poll("the older one still listens") { try couch.offers().map(\.id) == [ours.activity] }
    }

    private func copy(_ source: String, to target: String) {
        guard let from = fopen(source, "r"), let to = fopen(target, "w") else { return }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = fread(&bytes, 1, bytes.count, from)
        fwrite(bytes, 1, count, to)
        fclose(from)
        fclose(to)
        chmod(target, 0o600)
    }
}
