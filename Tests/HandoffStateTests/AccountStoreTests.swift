import Glibc
import HandoffAccount
import HandoffCrypto
import HandoffModel
import HandoffState
import HandoffTestSupport
import LoopIO
import Synchronization
import Testing

/// The order of changes to the account.
@Suite struct AccountStoreTests {
    private static let start: UInt64 = 1_800_000_000
    private static let month: UInt64 = 34 * 24 * 3600

    /// An account store on a loop that the test runs.
    private struct Rig {
        let time = ManualClock()
        let loop: EventLoop
        let worker: Worker
        let accountStore: AccountStore
        let stores = Counter()
        /// Number of the next stores that fail.
        let failing = Counter()
        let clock = Counter()
        let inReach = Counter()
        private(set) var others: [SigningKey] = []
        private let network: Members

        /// - Parameter paired: a device that was admitted by pairing and has not finished joining.
        init(members: Int = 1, paired: PublicKey? = nil) throws {
            let device = try SigningKey()
            var state = try AccountState.creating(device: device, name: "desk", now: AccountStoreTests.start)
            for number in 1..<members {
                // Greater ids than this device's, so that it is this device's turn.
                var other = try SigningKey()
                while DeviceID(other.publicKey) < DeviceID(device.publicKey) { other = try SigningKey() }
                state = try state.admitting(other.publicKey, name: "other \(number)", by: device)
                others.append(other)
            }
            if let paired { state = try state.pairing(paired, name: "couch", by: device) }
            loop = try EventLoop(clock: time)
            worker = try Worker()
            let (stores, failing, clock, inReach) = (stores, failing, clock, inReach)
            accountStore = AccountStore(
                device: device, state: state, loop: loop, worker: worker,
                log: Logger(subsystem: "test", sink: MemorySink(), level: .debug),
                storage: Disk(stores: stores, failing: failing), wallClock: CountedClock(seconds: clock))
            network = Members(inReach: inReach)
            accountStore.delegate = network
        }

        /// Advances the time and completes pending stores.
        func pass(seconds: Int) throws {
            for _ in 0...seconds {
                // Queued after all pending stores.
                worker.run({}, on: loop) { [loop] _ in loop.stop() }
                try loop.run()
                time.advance(by: .seconds(1))
            }
        }
    }

    /// Storage that fails a given number of times.
    private struct Disk: AccountPersistence {
        let stores: Counter
        let failing: Counter

        func store(account: AccountState) throws(StateError) {
            stores.value.add(1, ordering: .relaxed)
            guard failing.value.load(ordering: .relaxed) > 0 else { return }
            failing.value.subtract(1, ordering: .relaxed)
            throw .cannotWrite(path: "account", Errno(rawValue: ENOSPC))
        }
    }

    /// A wall clock set by the test.
    private struct CountedClock: WallClock {
        let seconds: Counter

        var unixSeconds: UInt64 { AccountStoreTests.start + UInt64(seconds.value.load(ordering: .relaxed)) }
    }

    /// A given number of reachable members.
    private final class Members: AccountStoreDelegate {
        private let inReach: Counter

        init(inReach: Counter) {
            self.inReach = inReach
        }

        var onlineMemberCount: Int { inReach.value.load(ordering: .relaxed) }

        func accountChanged(from former: AccountState?, to present: AccountState) {}
    }

    private final class Counter: Sendable {
        let value = Atomic(0)
    }

    @Test(.timeLimit(.minutes(5))) func `a flood of keys during a store uses no stack`() throws {
        let rig = try Rig()
        rig.clock.value.store(Int(Self.month), ordering: .relaxed)
        rig.accountStore.review()  // Creates an epoch, which is being stored while the keys arrive.
        let key = try SecretBytes(random: 32)
        let count = 20_000
        var answers = 0
        for _ in 0..<count {
            rig.accountStore.accept(key) { _ in
                answers += 1
                if answers == count { rig.loop.stop() }
            }
        }
        #expect(answers == 0)
        try rig.loop.run()
        #expect(answers == count)
        #expect(rig.accountStore.state?.epoch == 2)
    }

    @Test(arguments: [(members: 1, inReach: 0, epoch: 2), (2, 0, 1), (2, 1, 2)] as [(Int, Int, UInt32)])
    func `the monthly key is not created in isolation`(members: Int, inReach: Int, epoch: UInt32) throws {
        let rig = try Rig(members: members)
        rig.clock.value.store(Int(Self.month), ordering: .relaxed)
        rig.inReach.value.store(inReach, ordering: .relaxed)
        rig.accountStore.review()
        // Queued after the new epoch, if there is one.
        rig.accountStore.accept(try SecretBytes(random: 32)) { _ in rig.loop.stop() }
        try rig.loop.run()
        #expect(rig.accountStore.state?.epoch == epoch)
    }

    @Test(.timeLimit(.minutes(5))) func `a due key is not created over that of another member`() throws {
        let rig = try Rig(members: 2)
        rig.clock.value.store(Int(Self.month), ordering: .relaxed)
        rig.inReach.value.store(1, ordering: .relaxed)
        let present = try #require(rig.accountStore.state)
        let other = try present.makingEpoch(by: try #require(rig.others.first), now: Self.start + UInt64(Self.month))
        rig.accountStore.merge(other.roster.ordered) { _ in }
        rig.accountStore.review()
        rig.accountStore.review()
        // Queued after the new epoch, if there is one.
        rig.accountStore.accept(try SecretBytes(random: 32)) { _ in rig.loop.stop() }
        try rig.loop.run()
        #expect(rig.accountStore.state?.view.currentEpoch?.n == 2)
        #expect(rig.stores.value.load(ordering: .relaxed) == 1)
    }

    @Test(.timeLimit(.minutes(5))) func `a finished device is not forgotten when that cannot be stored`() throws {
        let couch = try SigningKey().publicKey
        let rig = try Rig(paired: couch)
        rig.failing.value.store(3, ordering: .relaxed)
        rig.accountStore.finished(DeviceID(couch))
        rig.accountStore.finished(DeviceID(couch))
        try rig.pass(seconds: 1)
        #expect(rig.stores.value.load(ordering: .relaxed) == 1)
        #expect(rig.accountStore.state?.unfinished == [DeviceID(couch)])
        #expect(rig.accountStore.unfinished.isEmpty)

        // After 2, 4 and 8 s, each up to a fifth longer.
        try rig.pass(seconds: 20)

        #expect(rig.stores.value.load(ordering: .relaxed) == 4)
        #expect(rig.accountStore.state?.unfinished.isEmpty == true)
    }

    @Test(.timeLimit(.minutes(5))) func `a device that is paired again must finish again`() throws {
        let couch = try SigningKey().publicKey
        let rig = try Rig(paired: couch)
        rig.failing.value.store(1, ordering: .relaxed)
        rig.accountStore.finished(DeviceID(couch))
        try rig.pass(seconds: 1)
        rig.accountStore.admit(couch, name: "sofa") { _ in }
        try rig.pass(seconds: 20)
        #expect(rig.accountStore.unfinished == [DeviceID(couch)])
        rig.accountStore.finished(DeviceID(couch))
        try rig.pass(seconds: 1)
        #expect(rig.accountStore.state?.unfinished.isEmpty == true)
    }

    @Test(.timeLimit(.minutes(5))) func `a new key that cannot be stored is retried soon`() throws {
        let rig = try Rig()
        rig.clock.value.store(Int(Self.month), ordering: .relaxed)
        rig.failing.value.store(1, ordering: .relaxed)
        rig.accountStore.review()
        try rig.pass(seconds: 4)
        #expect(rig.accountStore.state?.epoch == 2)
    }
}
