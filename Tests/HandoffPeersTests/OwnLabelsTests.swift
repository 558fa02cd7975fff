import HandoffAccount
import HandoffCrypto
import HandoffDiscovery
import HandoffModel
import HandoffPeers
import HandoffProtocol
import LoopIO
import Testing

/// The tokens that open the gate, and how often each one does.
@Suite struct OwnLabelsTests {
    private static let hello: [UInt8] = [22, 3, 1, 0, 1, 7]
    private static let now = MonotonicInstant(nanoseconds: 1_000_000_000_000)
    private static let serial = Gate.Serial(generation: 5, call: 1)

    private let account: AccountID
    private let own: SigningKey
    private let desk: Party
    private let ticket: Party
    private let pairwise: [Party: PairwiseKeys]
    private let epoch: EpochKeys
    private var labels = OwnLabels()
    private var callers = CallerTable()
    private var hashes = 0

    init() throws {
        account = try #require(AccountID(bytes: [UInt8](repeating: 1, count: 16)))
        own = try SigningKey()
        let (member, holder) = (try SigningKey(), try SigningKey())
        desk = .device(DeviceID(member.publicKey))
        ticket = .ticket(Fingerprint(ticket: holder.publicKey))
        pairwise = [
            desk: try PairwiseKeys(device: own, device: member.publicKey, accountID: account),
            ticket: try PairwiseKeys(device: own, ticket: holder.publicKey, accountID: account),
        ]
        epoch = try Self.epoch(of: account)
        renew(epoch)
    }

    private static func epoch(of account: AccountID) throws -> EpochKeys {
        try EpochKeys(accountKey: SecretBytes(random: 32), accountID: account)
    }

    private mutating func renew(_ keys: EpochKeys) {
        labels.renew(keys, now: Self.now)
        callers.update(pairwise, of: account, to: DeviceID(own.publicKey), labels: labels.receivers(now: Self.now))
    }

    private func key(_ party: Party) throws -> SecretBytes { try #require(pairwise[party]).gate }

    /// The hint of a member in the epoch of these tests.
    private var byEpoch: Gate.Hint { hint(of: epoch) }

    private func hint(of epoch: EpochKeys) -> Gate.Hint {
        guard case .device(let device) = desk else { return .introduction }
        return .device(device, epoch: epoch.gate)
    }

    private func token(
        _ key: SecretBytes, _ label: Label?, _ hint: Gate.Hint = .pair, _ serial: Gate.Serial = serial,
        hello: [UInt8] = hello
    ) throws -> [UInt8] {
        let greeting = Gate.Greeting(hello, to: DeviceID(own.publicKey))
        return Gate.token(key: key, hint: hint, serial: serial, label: try #require(label), greeting)
    }

    private mutating func caller(
        _ token: [UInt8], after delay: Duration = .zero, hello: [UInt8] = hello, knownGeneration: UInt64? = nil
    ) throws -> Party? {
        var knock = try #require(Knock(token, hello, to: DeviceID(own.publicKey)))
        let now = Self.now.advanced(by: delay)
        let caller = labels.admit(&knock, among: callers, epoch: epoch.gate, now: now) { _ in knownGeneration }
        hashes = knock.hashes
        #expect(hashes <= labels.hashesPerCaller(now: now))
        return caller
    }

    @Test mutating func `a token opens once`() throws {
        let token = try token(key(desk), labels.label)
        let found = [try caller(token), try caller(token)]
        #expect(found == [desk, nil])
    }

    @Test mutating func `a token with another hint is the same token`() throws {
        let tokens = try [byEpoch, .pair].map { try token(key(desk), labels.label, $0) }
        let found = [try caller(tokens[0]), try caller(tokens[1])]
        #expect(found == [desk, nil])
    }

    @Test mutating func `a used token stays used after its label was replaced`() throws {
        let token = try token(key(desk), labels.label)
        _ = try caller(token)
        renew(epoch)
        let again = try caller(token)
        #expect(again == nil)
    }

    @Test mutating func `the former label opens for two minutes`() throws {
        let former = try #require(labels.label)
        renew(try Self.epoch(of: account))
        let early = try caller(token(key(desk), former), after: .seconds(119))
        renew(epoch)
        let late = try caller(token(key(desk), former, hello: Self.hello + [1]), after: .seconds(121))
        #expect(early == desk && late == nil)
        #expect(labels.isOwn(former))
        #expect(!labels.isOwn(Label.random(labelKey: epoch.label)))
    }

    @Test mutating func `lost devices may use the labels of two hours, however short a label's lifetime`() throws {
        let lifetime = Duration.seconds(Int64(PublicationGroup.labelLifetime.lowerBound))
        var own = [try #require(labels.label)]
        var now = Self.now
        while now.advanced(by: lifetime) <= Self.now.advanced(by: PeerTable.searchLimit) {
            now = now.advanced(by: lifetime)
            // Once at the end of the lifetime, and once because the network changed.
            for _ in 1...2 {
                labels.renew(epoch, now: now)
                own.append(try #require(labels.label))
            }
        }
        #expect(labels.receiversForLost(now: now) == own.dropLast().reversed())
    }

    @Test mutating func `callers under a former label may still be in its epoch`() throws {
        let former = try #require(labels.label)
        renew(try Self.epoch(of: account))
        let token = try token(key(desk), former, byEpoch)
        let early = try caller(token, after: .seconds(119))
        let again = try caller(token, after: .seconds(119))
        renew(try Self.epoch(of: account))
        let late = try caller(self.token(key(desk), former, byEpoch, hello: Self.hello + [1]), after: .seconds(121))
        #expect(early == desk && again == nil && late == nil)
    }

    @Test mutating func `the token identifies the caller`() throws {
        let label = labels.label
        let found = [
            try caller(token(key(desk), label, byEpoch)), try caller(token(key(ticket), label)),
            try caller(token(epoch.gate, label, .introduction)),
        ]
        #expect(found == [desk, ticket, .keyHolder])
        let unknown = try SecretBytes(random: 32)
        for hint in [byEpoch, .pair, .introduction] {
            let found = try caller(token(unknown, label, hint))
            #expect(found == nil)
        }
        // Only the key that the hint names counts.
        let other = try caller(token(epoch.gate, label, byEpoch, hello: Self.hello + [1]), hello: Self.hello + [1])
        #expect(other == nil)
    }

    @Test mutating func `without a label nothing opens`() throws {
        let token = try token(key(desk), Gate.staticLabel)
        labels.clear()
        let found = try caller(token)
        #expect(found == nil)
    }

    @Test(arguments: [0, 3])
    mutating func `an unknown caller costs the same with 253 devices as with 3`(formerLabels: Int) throws {
        func costs() throws -> [Int] {
            try [byEpoch, .pair, .introduction].map { hint in
                let token = try token(SecretBytes(random: 32), labels.label, hint)
                #expect(try caller(token) == nil)
                return hashes
            }
        }
        for _ in 0..<formerLabels { renew(try Self.epoch(of: account)) }
        let few = try costs()
        var many = pairwise
        for number in 0..<252 {
            let id = try #require(DeviceID(bytes: [UInt8](repeating: UInt8(number), count: 32)))
            many[.device(id)] = try key(desk, in: pairwise)
        }
        callers.update(many, of: account, to: DeviceID(own.publicKey), labels: labels.receivers(now: Self.now))
        let all = try costs()
        #expect(all == few)
        #expect(Set(all) == [1 + (formerLabels + 1) + (formerLabels + 1) + 1])
    }

    private func key(_ party: Party, in keys: [Party: PairwiseKeys]) throws -> PairwiseKeys {
        try #require(keys[party])
    }

    @Test mutating func `a former party opens nothing and a new one opens`() throws {
        func update(_ parties: [Party: PairwiseKeys]) {
            callers.update(parties, of: account, to: DeviceID(own.publicKey), labels: labels.receivers(now: Self.now))
        }
        update([ticket: try key(ticket, in: pairwise)])
        for hint in [byEpoch, .pair] {
            let found = try caller(token(key(desk), labels.label, hint))
            #expect(found == nil)
        }
        update(pairwise)
        let found = try caller(token(key(desk), labels.label))
        #expect(found == desk)
    }

    // MARK: - By address alone

    @Test mutating func `each call by address alone needs a greater number`() throws {
        let calls: [(generation: UInt64, call: UInt32, opens: Bool)] = [
            (5, 2, true), (5, 2, false), (5, 1, false), (5, 3, true), (4, 9, false), (6, 0, true), (5, 4, false),
        ]
        for (generation, call, opens) in calls {
            for hint in [byEpoch, .pair] {
                let found = try caller(
                    token(key(desk), Gate.staticLabel, hint, Gate.Serial(generation: generation, call: call)))
                #expect(found == (opens && hint.isFirst ? desk : nil), "\(generation) \(call)")
            }
        }
        // The numbers of another party are counted separately.
        let found = try caller(token(key(ticket), Gate.staticLabel))
        #expect(found == ticket)
    }

    @Test mutating func `a recorded call by address opens neither after new labels nor after a restart`() throws {
        let token = try token(key(desk), Gate.staticLabel)
        let first = try caller(token)
        for _ in 0..<3 { renew(epoch) }
        let again = try caller(token)
        let stored = labels.staticCalls.stored
        labels = OwnLabels(StaticCalls(stored))
        renew(epoch)
        let afterRestart = try caller(token)
        #expect(first == desk && again == nil && afterRestart == nil)
        let next = try caller(self.token(key(desk), Gate.staticLabel, .pair, Gate.Serial(generation: 5, call: 2)))
        #expect(next == desk)
    }

    @Test mutating func `a call by address from an earlier start than the last known one does not open`() throws {
        let early = try caller(token(key(desk), Gate.staticLabel), knownGeneration: 6)
        let same = try caller(token(key(desk), Gate.staticLabel), knownGeneration: 5)
        #expect(early == nil && same == desk)
    }

    @Test mutating func `an introduction by address alone does not open`() throws {
        let found = try caller(token(epoch.gate, Gate.staticLabel, .introduction))
        #expect(found == nil)
    }

    @Test mutating func `calls of former parties are forgotten`() throws {
        _ = try caller(token(key(desk), Gate.staticLabel))
        _ = try caller(token(key(ticket), Gate.staticLabel))
        #expect(labels.staticCalls.stored.count == 1, "the call of the ticket is not stored")
        labels.partiesChanged([ticket])
        #expect(labels.staticCalls.stored.isEmpty)
        let again = try caller(token(key(ticket), Gate.staticLabel))
        #expect(again == nil)
    }

    @Test mutating func `the holder of a key can only wear out a label`() throws {
        var opened = 0
        for number in 0..<5000 {
            let hello = Self.hello + [UInt8(number & 255), UInt8(number >> 8)]
            if try caller(token(key(desk), labels.label, hello: hello), hello: hello) != nil { opened += 1 }
        }
        #expect(opened == 4096)
        #expect(labels.isWornOut)
    }
}

extension Gate.Hint {
    /// True if this hint is tried before the other one.
    fileprivate var isFirst: Bool {
        if case .device = self { true } else { false }
    }
}
