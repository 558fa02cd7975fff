import HandoffAccount
import HandoffCrypto
import HandoffModel
import HandoffPeers
import HandoffProtocol
import LoopIO
import Testing
import Timing

/// Which tokens open the gate, and how often.
@Suite struct OwnLabelsTests {
    private static let hello: [UInt8] = [22, 3, 1, 0, 1, 7]
    private static let now = MonotonicInstant(nanoseconds: 1_000_000_000_000)
    private static let unixSeconds: UInt64 = 1_800_000_000

    private let labelKey: SecretBytes
    private let key: SecretBytes
    private let own: DeviceID
    private var labels = OwnLabels()

    init() throws {
        labelKey = try SecretBytes(random: 32)
        key = try SecretBytes(random: 32)
        own = try DeviceID(SigningKey().publicKey)
        labels.renew(labelKey: labelKey, now: Self.now)
    }

    private func greeting(_ hello: [UInt8] = hello) -> Gate.Greeting { Gate.Greeting(hello, to: own) }

    private func token(_ label: Label) -> [UInt8] {
        Gate.token(key: key, label: label, greeting())
    }

    private mutating func opens(
        _ token: [UInt8], after delay: Duration = .zero, unixSeconds: UInt64 = unixSeconds
    ) -> Bool {
        labels.admit(
            token, greeting(), from: [("member", key)], now: Self.now.advanced(by: delay), unixSeconds: unixSeconds)
            != nil
    }

    @Test mutating func `a token opens once`() throws {
        let token = token(try #require(labels.label))
        let first = opens(token)
        let second = opens(token)
        #expect(first && !second)
    }

    @Test mutating func `a used token stays used when its label is the former one`() throws {
        let token = token(try #require(labels.label))
        _ = opens(token)
        labels.renew(labelKey: labelKey, now: Self.now)
        let again = opens(token)
        #expect(!again)
    }

    @Test mutating func `the former label opens for two minutes`() throws {
        let former = try #require(labels.label)
        labels.renew(labelKey: try SecretBytes(random: 32), now: Self.now)
        let early = opens(token(former), after: .seconds(119))
        labels.renew(labelKey: labelKey, now: Self.now)
        let late = opens(Gate.token(key: key, label: former, greeting()), after: .seconds(121))
        #expect(early && !late)
        #expect(labels.isOwn(former))
        #expect(!labels.isOwn(Label.random(labelKey: labelKey)))
    }

    @Test mutating func `the token tells who calls`() throws {
        let keys = try ["desk", "couch", "ticket"].map { ($0, try SecretBytes(random: 32)) }
        for (name, key) in keys {
            let token = Gate.token(key: key, label: try #require(labels.label), greeting())
            let caller = labels.admit(
                token, greeting(), from: keys, now: Self.now, unixSeconds: Self.unixSeconds)
            #expect(caller == name)
        }
        let stranger = Gate.token(key: key, label: try #require(labels.label), greeting())
        let caller = labels.admit(stranger, greeting(), from: keys, now: Self.now, unixSeconds: Self.unixSeconds)
        #expect(caller == nil)
    }

    @Test mutating func `without a label nothing opens`() {
        labels.clear()
        let isOpened = opens(token(Gate.staticLabel(unixSeconds: Self.unixSeconds)))
        #expect(!isOpened)
    }

    @Test mutating func `a static token stays used when the label changes`() {
        let token = token(Gate.staticLabel(unixSeconds: Self.unixSeconds))
        let first = opens(token)
        for _ in 0..<3 { labels.renew(labelKey: labelKey, now: Self.now) }
        let again = opens(token)
        let afterAPeriod = opens(token, unixSeconds: Self.unixSeconds + 1024)
        #expect(first && !again && !afterAPeriod)
    }

    @Test(arguments: [(-2048, false), (-1024, true), (0, true), (1024, true), (2048, false)])
    mutating func `static labels hold for the periods around`(offset: Int, isOpen: Bool) {
        let called = UInt64(Int(Self.unixSeconds) + offset)
        let isOpened = opens(token(Gate.staticLabel(unixSeconds: called)))
        #expect(isOpened == isOpen)
    }

    @Test mutating func `who knows the key wears a label out and no more`() throws {
        let label = try #require(labels.label)
        var opened = 0
        for number in 0..<5000 {
            let greeting = greeting(Self.hello + [UInt8(number & 255), UInt8(number >> 8)])
            let token = Gate.token(key: key, label: label, greeting)
            let caller = labels.admit(
                token, greeting, from: [("member", key)], now: Self.now, unixSeconds: Self.unixSeconds)
            if caller != nil { opened += 1 }
        }
        #expect(opened == 4096)
        #expect(labels.isWornOut)
    }
}
