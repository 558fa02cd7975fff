import HandoffAccount
import HandoffCrypto
import HandoffDaemon
import HandoffModel
import HandoffProtocol
import LoopIO
import Testing

/// Which tokens open the gate, and how often.
@Suite struct OwnLabelsTests {
    private static let hello: [UInt8] = [22, 3, 1, 0, 1, 7]
    private static let now = LoopInstant(nanoseconds: 1_000_000_000_000)
    private static let unixSeconds: UInt64 = 1_800_000_000

    private let keys: EpochKeys
    private var labels = OwnLabels()

    init() throws {
        let account = try #require(AccountID(bytes: [UInt8](repeating: 1, count: 16)))
        keys = try EpochKeys(accountKey: SecretBytes(random: 32), accountID: account, epoch: 1)
        labels.renew(keys: keys, epoch: 11, now: Self.now)
    }

    private func token(_ label: Label) -> [UInt8] {
        Gate.token(gateKey: keys.gate, label: label, clientHello: Self.hello)
    }

    private mutating func opens(
        _ token: [UInt8], after delay: Duration = .zero, unixSeconds: UInt64 = unixSeconds
    ) -> Bool {
        labels.admit(
            token, clientHello: Self.hello, now: Self.now.advanced(by: delay), unixSeconds: unixSeconds) != nil
    }

    @Test mutating func aTokenOpensOnce() throws {
        let token = token(try #require(labels.label))
        let first = opens(token)
        let second = opens(token)
        #expect(first && !second)
    }

    @Test mutating func aUsedTokenStaysUsedWhenItsLabelIsTheFormerOne() throws {
        let token = token(try #require(labels.label))
        _ = opens(token)
        labels.renew(keys: keys, epoch: 11, now: Self.now)
        let again = opens(token)
        #expect(!again)
    }

    @Test mutating func theFormerLabelOpensForTwoMinutes() throws {
        let former = try #require(labels.label)
        labels.renew(keys: keys, epoch: 12, now: Self.now)
        let early = labels.admit(
            token(former), clientHello: Self.hello, now: Self.now.advanced(by: .seconds(119)),
            unixSeconds: Self.unixSeconds)
        let late = opens(token(former), after: .seconds(121))
        // The epoch is that of the token, so that a connection by a former one carries statements and keys only.
        #expect(early?.epoch == 11)
        #expect(!late)
    }

    @Test mutating func theKeyOfTwoDevicesOpensForOneOfThemOnceUnderThePresentLabel() throws {
        let (own, other) = (try SigningKey(), try SigningKey())
        let account = try #require(AccountID(bytes: [UInt8](repeating: 1, count: 16)))
        let pair = try PairKeys(own: own, other: other.publicKey, accountID: account)
        let stranger = try PairKeys(own: own, other: SigningKey().publicKey, accountID: account)
        func token(_ pair: PairKeys) throws -> [UInt8] {
            Gate.token(gateKey: pair.gate, label: try #require(labels.label), clientHello: Self.hello)
        }
        let device = DeviceID(other.publicKey)
        labels.renew(keys: keys, epoch: 12, missing: [device: pair], now: Self.now)
        let marks = try #require(labels.marks)
        let (good, bad) = (try token(pair), try token(stranger))

        let first = labels.admit(good, clientHello: Self.hello, now: Self.now, unixSeconds: Self.unixSeconds)
        let second = opens(good)
        let unmarked = opens(bad)

        #expect(first != nil && first?.epoch == nil && first?.device == device)
        #expect(!second && !unmarked)
        #expect(marks.contains(pair.mark(under: try #require(labels.label))))
        #expect(labels.marks == marks)
        labels.renew(keys: keys, epoch: 12, missing: [:], now: Self.now)
        let late = opens(
            Gate.token(
                gateKey: pair.gate, label: try #require(labels.receivers(now: Self.now).last), clientHello: Self.hello))
        #expect(!late)
        #expect(labels.marks != marks)
    }

    @Test mutating func aStaticTokenStaysUsedWhenTheLabelChanges() {
        let token = token(Gate.staticLabel(labelKey: keys.label, unixSeconds: Self.unixSeconds))
        let first = opens(token)
        for _ in 0..<3 { labels.renew(keys: keys, epoch: 11, now: Self.now) }
        let again = opens(token)
        let afterAPeriod = opens(token, unixSeconds: Self.unixSeconds + 1024)
        #expect(first && !again && !afterAPeriod)
    }

    @Test(arguments: [(-2048, false), (-1024, true), (0, true), (1024, true), (2048, false)])
    mutating func staticLabelsHoldForThePeriodsAround(offset: Int, isOpen: Bool) {
        let called = UInt64(Int(Self.unixSeconds) + offset)
        let isOpened = opens(token(Gate.staticLabel(labelKey: keys.label, unixSeconds: called)))
        #expect(isOpened == isOpen)
    }

    @Test mutating func aNewEpochVoidsStaticTokens() throws {
        let token = token(Gate.staticLabel(labelKey: keys.label, unixSeconds: Self.unixSeconds))
        let account = try #require(AccountID(bytes: [UInt8](repeating: 1, count: 16)))
        let next = try EpochKeys(accountKey: SecretBytes(random: 32), accountID: account, epoch: 2)
        labels.renew(keys: next, epoch: 12, now: Self.now)
        let isOpened = opens(token)
        #expect(!isOpened)
    }

    @Test mutating func whoKnowsTheKeyWearsALabelOutAndNoMore() throws {
        let label = try #require(labels.label)
        var opened = 0
        for number in 0..<5000 {
            let hello = Self.hello + [UInt8(number & 255), UInt8(number >> 8)]
            let token = Gate.token(gateKey: keys.gate, label: label, clientHello: hello)
            if labels.admit(token, clientHello: hello, now: Self.now, unixSeconds: Self.unixSeconds) != nil {
                opened += 1
            }
        }
        #expect(opened == 4096)
        #expect(labels.isWornOut)
    }
}
