import HandoffAccount
import HandoffCrypto
import HandoffModel
import HandoffProtocol
import Testing

@Suite struct GateTests {
    private let samples: SealingSamples
    private let clientHello: [UInt8] = [22, 3, 1, 0, 4, 1, 2, 3, 4]

    init() throws {
        samples = try SealingSamples()
    }

    private let serial = Gate.Serial(generation: 1_800_000_000, call: 7)

    private func token(_ key: SecretBytes, _ label: Label, _ hint: Gate.Hint = .pair) -> [UInt8] {
        let server = DeviceID(samples.keyB.publicKey)
        return Gate.token(key: key, hint: hint, serial: serial, label: label, Gate.Greeting(clientHello, to: server))
    }

    private func knock(
        _ token: [UInt8], _ clientHello: [UInt8]? = nil, to server: SigningKey? = nil
    ) throws -> Knock {
        let server = DeviceID((server ?? samples.keyB).publicKey)
        return try #require(Knock(token, clientHello ?? self.clientHello, to: server))
    }

    private func isValid(
        _ token: [UInt8], label: Label, _ clientHello: [UInt8]? = nil, to server: SigningKey? = nil
    ) throws -> Bool {
        var knock = try knock(token, clientHello, to: server)
        return knock.isMade(with: samples.keys.gate, under: label)
    }

    @Test func `a token opens only for its server, label and ClientHello`() throws {
        let token = token(samples.keys.gate, samples.labelB)
        #expect(token.count == Gate.tokenCount)
        #expect(try isValid(token, label: samples.labelB))
        #expect(try !isValid(token, label: samples.labelA))
        // A device's own token must not open its own gate.
        #expect(try !isValid(token, label: samples.labelB, to: samples.keyA))
        for index in clientHello.indices {
            var changed = clientHello
            changed[index] ^= 1
            #expect(try !isValid(token, label: samples.labelB, changed))
        }
        // The hint precedes the rest and only serves to find the key.
        for index in 8..<token.count {
            var changed = token
            changed[index] ^= 1
            #expect(try !isValid(changed, label: samples.labelB))
        }
        #expect(Knock(Array(token.dropLast()), clientHello, to: DeviceID(samples.keyB.publicKey)) == nil)
        #expect(Knock([], clientHello, to: DeviceID(samples.keyB.publicKey)) == nil)
    }

    @Test func `a token of another pair does not open`() throws {
        let pair = try PairwiseKeys(device: samples.keyA, device: samples.keyB.publicKey, accountID: samples.accountID)
        let other = try PairwiseKeys(device: SigningKey(), device: samples.keyB.publicKey, accountID: samples.accountID)
        var knock = try knock(token(other.gate, samples.labelB))
        let isMade = knock.isMade(with: pair.gate, under: samples.labelB)
        #expect(!isMade)
    }

    @Test func `only a holder of the key reads the number of a call`() throws {
        var knock = try knock(token(samples.keys.gate, samples.labelB))
        let read = [knock.serial(with: samples.keys.gate), knock.serial(with: samples.keys.advert)]
        #expect(read[0] == serial && read[1] != serial)
        #expect(Gate.Serial(generation: 1, call: .max) < Gate.Serial(generation: 2, call: 0))
        #expect(Gate.Serial(generation: 2, call: 0) < Gate.Serial(generation: 2, call: 1))
    }

    @Test(arguments: [UInt64(0), UInt64(Int64.max) + 1, .max]) func `no call has an invalid generation number`(
        _ generation: UInt64
    ) throws {
        let server = DeviceID(samples.keyB.publicKey)
        let token = Gate.token(
            key: samples.keys.gate, hint: .pair, serial: Gate.Serial(generation: generation, call: 1),
            label: Gate.staticLabel,
            Gate.Greeting(clientHello, to: server))
        var knock = try knock(token)
        let read = knock.serial(with: samples.keys.gate)
        #expect(read == nil)
    }

    @Test func `the hint of an epoch identifies the caller to members only`() throws {
        let caller = DeviceID(samples.keyA.publicKey)
        let token = token(samples.keys.beacon, samples.labelB, .device(caller, epoch: samples.keys.gate))
        var knock = try knock(token)
        let byEpoch = knock.device(epoch: samples.keys.gate)
        let byOther = knock.device(epoch: samples.keys.advert)
        #expect(byEpoch == Gate.number(caller) && byOther != byEpoch)
        // Another ClientHello gives another number.
        var other = try self.knock(token, clientHello + [5])
        let moved = other.device(epoch: samples.keys.gate)
        #expect(moved != byEpoch)
    }

    @Test func `the hint of a pair depends on label and server`() throws {
        let (a, b) = (DeviceID(samples.keyA.publicKey), DeviceID(samples.keyB.publicKey))
        let key = samples.keys.gate
        let hint = Gate.pairHint(key: key, label: samples.labelB, server: b)
        #expect(try knock(token(key, samples.labelB)).hint == hint)
        #expect(Gate.pairHint(key: key, label: samples.labelA, server: b) != hint)
        #expect(Gate.pairHint(key: key, label: samples.labelB, server: a) != hint)
        // The hint of an introduction is random.
        let introductions = try (0..<2).map { _ in try knock(token(key, samples.labelB, .introduction)).hint }
        #expect(introductions[0] != introductions[1])
    }

    @Test func `each step costs one hash`() throws {
        var knock = try knock(token(samples.keys.gate, samples.labelB))
        #expect(knock.hashes == 1)
        _ = knock.device(epoch: samples.keys.gate)
        _ = knock.isMade(with: samples.keys.gate, under: samples.labelA)
        _ = knock.serial(with: samples.keys.gate)
        #expect(knock.hashes == 4)
    }

    @Test(
        arguments: [
            ([22, 3, 1, 0, 1], 1), ([22, 3, 1, 16, 0], 4096), ([22, 3, 1, 16, 1], nil), ([22, 3, 1, 0, 0], nil),
            ([23, 3, 1, 0, 1], nil), ([22, 3, 1, 0], nil), ([22, 3, 1, 0xFF, 0xFF], nil), ([], nil),
        ] as [([UInt8], Int?)])
    func `a record is a handshake of at most 4096 bytes`(header: [UInt8], count: Int?) {
        #expect(Gate.recordBodyCount(header: header) == count)
    }

    @Test func `the static label is not a member's label`() {
        #expect(!Gate.staticLabel.isMember(labelKey: samples.keys.label))
        #expect(Gate.staticLabel.bytes == Array("handoff/1 static".utf8))
    }

    @Test func `a token opens once`() {
        var seen = SeenTokens()
        let results = [1, 2, 1].map { seen.insert([UInt8](repeating: $0, count: 32)) }
        #expect(results == [true, true, false])
    }

    @Test func `a full set rejects tokens and reports that it is full`() {
        var seen = SeenTokens()
        for number in 0..<SeenTokens.maxCount {
            let isNew = seen.insert([UInt8(number & 0xFF), UInt8(number >> 8)])
            #expect(isNew)
        }
        let isTaken = seen.insert([0xFF, 0xFF, 0xFF])
        #expect(seen.isFull && !isTaken)
    }

    @Test func `labels are recognised by members only`() throws {
        let label = Label.random(labelKey: samples.keys.label)
        #expect(label.isMember(labelKey: samples.keys.label))
        #expect(!label.isMember(labelKey: samples.keys.gate))
        for index in 0..<16 {
            var bytes = label.bytes
            bytes[index] ^= 0x80
            #expect(try !#require(Label(bytes: bytes)).isMember(labelKey: samples.keys.label))
        }
        #expect(Label.random(labelKey: samples.keys.label) != label)
    }
}
