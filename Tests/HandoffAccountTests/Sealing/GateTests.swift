import HandoffAccount
import HandoffCrypto
import HandoffModel
import HandoffProtocol
import Testing
import Timing

@Suite struct GateTests {
    private let samples: SealingSamples
    private let clientHello: [UInt8] = [22, 3, 1, 0, 4, 1, 2, 3, 4]

    init() throws {
        samples = try SealingSamples()
    }

    private func greeting(_ clientHello: [UInt8]? = nil, to server: SigningKey? = nil) -> Gate.Greeting {
        Gate.Greeting(
            clientHello ?? self.clientHello, to: DeviceID((server ?? samples.keyB).publicKey))
    }

    private func isValid(_ token: [UInt8], label: Label, _ greeting: Gate.Greeting) -> Bool {
        Gate.isValid(token, key: samples.keys.gate, label: label, greeting)
    }

    @Test func `a token opens for its server label and client hello only`() {
        let token = Gate.token(key: samples.keys.gate, label: samples.labelB, greeting())
        #expect(isValid(token, label: samples.labelB, greeting()))
        #expect(!isValid(token, label: samples.labelA, greeting()))
        // What one of two devices sends must not open its own gate.
        #expect(!isValid(token, label: samples.labelB, greeting(to: samples.keyA)))
        for index in clientHello.indices {
            var changed = clientHello
            changed[index] ^= 1
            #expect(!isValid(token, label: samples.labelB, greeting(changed)))
        }
        #expect(!isValid(Array(token.dropLast()), label: samples.labelB, greeting()))
        #expect(!isValid([], label: samples.labelB, greeting()))
    }

    @Test func `a token of another pair does not open`() throws {
        let pair = try PairwiseKeys(device: samples.keyA, device: samples.keyB.publicKey, accountID: samples.accountID)
        let other = try PairwiseKeys(device: SigningKey(), device: samples.keyB.publicKey, accountID: samples.accountID)
        let token = Gate.token(key: other.gate, label: samples.labelB, greeting())
        #expect(!Gate.isValid(token, key: pair.gate, label: samples.labelB, greeting()))
    }

    @Test(
        arguments: [
            ([22, 3, 1, 0, 1], 1), ([22, 3, 1, 4, 0], 1024), ([22, 3, 1, 4, 1], nil), ([22, 3, 1, 0, 0], nil),
            ([23, 3, 1, 0, 1], nil), ([22, 3, 1, 0], nil), ([22, 3, 1, 0xFF, 0xFF], nil), ([], nil),
        ] as [([UInt8], Int?)])
    func `a record is a handshake of at most1024 bytes`(header: [UInt8], count: Int?) {
        #expect(Gate.recordBodyCount(header: header) == count)
    }

    @Test func `a static label holds for its period and its neighbours`() {
        let label = Gate.staticLabel(unixSeconds: 10 * 1024)
        func isTaken(at seconds: UInt64) -> Bool {
            Gate.staticLabels(unixSeconds: seconds).contains(label)
        }
        #expect(!isTaken(at: 9 * 1024 - 1))
        #expect(isTaken(at: 9 * 1024))
        #expect(isTaken(at: 12 * 1024 - 1))
        #expect(!isTaken(at: 12 * 1024))
        #expect(Gate.staticLabels(unixSeconds: 0).count == 3)
        #expect(Gate.staticLabels(unixSeconds: .max).count == 3)
    }

    @Test func `a static label is no members label`() {
        #expect(!Gate.staticLabel(unixSeconds: 0).isMember(labelKey: samples.keys.label))
    }

    @Test func `a token opens once`() {
        var seen = SeenTokens()
        let results = [1, 2, 1].map { seen.insert([UInt8](repeating: $0, count: 32)) }
        #expect(results == [true, true, false])
    }

    @Test func `a full memory takes no token and says so`() {
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
