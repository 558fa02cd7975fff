import HandoffAccount
import HandoffCrypto
import HandoffDiscovery
import HandoffModel
import HandoffPeers
import HandoffProtocol
import HandoffState
import HandoffTestSupport
import LoopIO
import Testing

/// Changes of the account: the order in which a device applies them, and how they reach the others.
@Suite final class PeersAccountTests {
    private let network: PeersNetwork
    private let desk: TestPeers
    private let couch: TestPeers
    private let train: TestPeers

    init() throws {
        network = try PeersNetwork()
        let devices = try network.account("desk", "couch", "train")
        (desk, couch, train) = (devices[0], devices[1], devices[2])
    }

    deinit {
        network.end()
    }

    private func remove(_ device: TestPeers, by member: TestPeers) throws {
        var result: Result<AccountState, any Error>?
        member.accountStore.remove(device.id, dropping: []) { result = $0 }
        try network.run("the removal is stored") { result != nil }
        _ = try #require(result).get()
    }

    /// The state that another part of the daemon would find if it used the component during a step.
    private struct View: Equatable {
        var isMember: Bool
        var isOnline: Bool
        var isConnected: Bool
    }

    @Test func `a removal takes effect step by step and announcements come last`() throws {
        train.offer([try offer("of the train")])
        try network.run("the offer") { !desk.offers(of: train).isEmpty }
        try network.connect(desk, to: train)
        try network.connect(desk, to: couch)
        // The first messages on the new connections are handled before.
        network.pass(.zero)
        var steps: [(event: TestPeers.Event, view: View)] = []
        desk.onEvent = { [unowned desk, id = train.id] event in
            let peers = desk.peers
            steps.append(
                (
                    event,
                    View(
                        isMember: peers[id].heard != nil, isOnline: peers.table[id] != nil,
                        isConnected: peers.isConnected(id))
                ))
        }

        try remove(train, by: desk)

        desk.onEvent = nil
        let first = steps.prefix(4)
        #expect(first.map(\.event) == [.offersChanged([train.id]), .othersEnded, .linksChanged, .offersRead])
        #expect(
            first.map(\.view) == [
                View(isMember: false, isOnline: false, isConnected: true),
                View(isMember: false, isOnline: false, isConnected: true),
                View(isMember: false, isOnline: false, isConnected: false),
                View(isMember: false, isOnline: false, isConnected: false),
            ])
    }

    @Test(arguments: [false, true]) func `a removed device is notified and receives nothing else`(
        isConnected: Bool
    ) throws {
        let note = try offer("before the removal")
        desk.offer([note])
        try network.run("the offer") { train.offers(of: desk) == [note.activity.id] }
        if isConnected { try network.connect(desk, to: train) }
        let epoch = train.accountStore.state?.epoch

        try remove(train, by: desk)

        try network.run("the train is notified") {
            train.accountStore.state?.view.isLive(train.id) == false && train.peers.table.count == 0
        }
        #expect(train.accountStore.state?.epoch == epoch)
        #expect(train.offers(of: desk).isEmpty)
        try network.settle([desk, couch])
        for member in [desk, couch] {
            #expect(member.peers.table[train.id] == nil)
            #expect(!member.peers.isConnected(train.id))
            #expect(member.peers.refusal(of: train.id) != nil)
            #expect(member.peers.openStream(to: train.id) { _ in } == nil)
        }
    }

    @Test func `a removed device that keeps its old secrets is not answered`() throws {
        train.stop()
        try remove(train, by: desk)
        try network.settle([desk, couch])
        try train.start()
        for device in [desk, couch] { device.events = [] }
        try network.run("its record") { train.discovery.publication != nil }
        let note = try offer("for members")
        desk.offer([note])
        try network.run("the offer") { couch.offers(of: desk) == [note.activity.id] }
        network.pass(.seconds(61))
        try network.settle([desk, couch])
        #expect(train.peers.table.all.allSatisfy { $0.offers.isEmpty })
        for member in [desk, couch] {
            #expect(!member.events.contains { $0 == .received(train.id, isFirstUnderKey: true) })
            #expect(member.peers.table[train.id] == nil)
        }
    }

    @Test func `a change of the roster reaches all members`() throws {
        desk.accountStore.rename(couch.id, to: "sofa") { _ in }
        try network.run("the name") {
            [couch, train].allSatisfy { $0.accountStore.snapshot.name(of: couch.id) == "sofa" }
        }
    }

    @Test func `a member that was offline receives the changes from another one`() throws {
        train.stop()
        desk.accountStore.rename(couch.id, to: "sofa") { _ in }
        desk.accountStore.rotate { _ in }
        try network.run("the couch has both") {
            couch.accountStore.snapshot.name(of: couch.id) == "sofa"
                && couch.accountStore.state?.epoch == desk.accountStore.state?.epoch
                && couch.accountStore.snapshot.isCurrent
        }
        desk.stop()

        try train.start()

        try network.run("the train has both") {
            train.accountStore.snapshot.name(of: couch.id) == "sofa" && train.accountStore.snapshot.isCurrent
        }
        try network.settle([couch, train])
    }

    @Test func `a device that another member has admitted introduces itself`() throws {
        for device in [desk, train] { device.stop() }
        let guest = try network.device("guest")
        var joined: Result<AccountID, any Error>?
        couch.accountStore.admit(guest.accountStore.device.publicKey, name: "guest") { result in
            guard case .success(let state) = result, let held = state.held else { return }
            guest.accountStore.join(roster: state.roster, accountKey: held.accountKey) { joined = $0 }
        }
        try network.run("the guest has joined") { joined != nil }
        try network.settle([couch, guest])
        // From here on, only the new device can have the statements that admit it.
        couch.stop()
        try desk.start()
        #expect(desk.accountStore.snapshot.peerKey(guest.id) == nil)

        try network.run("the desk knows the guest") { desk.accountStore.snapshot.peerKey(guest.id) != nil }
        try network.settle([desk, guest])
        let note = try offer("for the guest")
        desk.offer([note])
        try network.run("the offer") { guest.offers(of: desk) == [note.activity.id] }
    }

    @Test func `a leaving member waits until the others have confirmed it`() throws {
        var notified: Set<DeviceID>?
        var result: Result<Void, any Error>?
        couch.accountStore.leave { [peers = couch.peers] state, done in
            peers.notifyLeaving(state) {
                notified = $0
                done()
            }
        } completion: {
            result = $0
        }
        try network.run("the couch has left") { result != nil }
        #expect(notified == [desk.id, train.id])
        for member in [desk, train] {
            #expect(member.accountStore.snapshot.peerKey(couch.id) == nil)
            #expect(member.peers.table[couch.id] == nil)
        }
    }
}
