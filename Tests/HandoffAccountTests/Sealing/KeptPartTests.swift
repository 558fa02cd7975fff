import HandoffAccount
import HandoffCrypto
import HandoffModel
import Testing

/// The sealed parts of an item that was sent to one device (docs/protocol.md#sealed-items).
@Suite struct KeptPartTests {
    private let vectors: ProtocolVectors
    private let sender: SigningKey
    private let recipient: SigningKey
    private let account: AccountID
    private let item = ActivityID(checked: Array(0x50...0x5F))

    init() throws {
        vectors = try ProtocolVectors("kept")
        sender = try SigningKey(seed: SecretBytes(copying: vectors["seed"]))
        recipient = try SigningKey(seed: SecretBytes(copying: vectors["seedB"]))
        account = AccountID(checked: try vectors["sealAccount"])
    }

    /// The seal of items from the sender, with the keys of either side.
    private func seal(of own: SigningKey, with other: SigningKey, from sender: SigningKey? = nil) throws -> KeptSeal {
        KeptSeal(
            try PairwiseKeys(device: own, device: other.publicKey, accountID: account),
            sender: DeviceID((sender ?? self.sender).publicKey))
    }

    private func parts(_ count: Int, _ item: ActivityID? = nil) throws -> [[UInt8]] {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 11) }
        let parts = try seal(of: sender, with: recipient)
            .seal(bytes, item ?? self.item, for: DeviceID(recipient.publicKey))
        return try #require(parts)
    }

    private func open(_ payload: [UInt8]) throws -> [UInt8]? { try seal(of: recipient, with: sender).open(payload) }

    @Test func `the part of the vectors opens`() throws {
        let part = try #require(KeptPart(try vectors["part"]))
        #expect(part.item == item && part.recipient == DeviceID(recipient.publicKey))
        #expect(part.number == 0 && part.count == 1 && part.version == Array(0x70...0x7F))
        let opened = try #require(try open(vectors["part"]))
        let head = try #require(KeptItemContent(first: opened))
        #expect(try head.payload == vectors["payload"] && Array(head.content) == Array("the file".utf8))
        #expect(part.activity == item)
        #expect(try KeptPart.activity(of: item, number: 1).bytes == vectors["secondPart"])
    }

    @Test func `an item is divided, and the parts together are the item`() throws {
        let most = KeptPart.maxContent
        for (bytes, count) in [(1, 1), (most, 1), (most + 1, 2), (3 * most, 3), (KeptPart.maxItem(share: 2 << 20), 4)] {
            let parts = try parts(bytes)
            #expect(parts.count == count && parts.map(\.count) == KeptPart.sizes(bytes))
            #expect(parts.reduce(0) { $0 + KeptLimits.size($1.count) } <= KeptLimits.maxPayloads)
            #expect(parts.compactMap { KeptPart($0)?.number } == Array(0..<count))
            #expect(try parts.compactMap { try open($0) }.joined().count == bytes)
        }
        #expect(KeptPart.sizes(KeptPart.maxItem(share: 2 << 20) + 1).reduce(0) { $0 + KeptLimits.size($1) } > 2 << 20)
        let share = KeptLimits.payloadShare(members: 5)
        #expect(KeptPart.sizes(KeptPart.maxItem(share: share)).reduce(0) { $0 + KeptLimits.size($1) } <= share)
        let tooMany = try seal(of: sender, with: recipient)
            .seal([UInt8](repeating: 0, count: 8 * most + 1), item, for: DeviceID(recipient.publicKey))
        #expect(tooMany == nil)
    }

    @Test func `a part with any changed byte, or a truncated one, does not open`() throws {
        let part = try parts(40)[0]
        for index in part.indices {
            var changed = part
            changed[index] ^= 1
            #expect(try open(changed) == nil, "byte \(index)")
        }
        for count in part.indices { #expect(try open(Array(part.prefix(count))) == nil) }
        #expect(try open(part + [0]) == nil)
    }

    @Test func `a part with the header of another part, item or version does not open`() throws {
        let header = 67
        let whole = try parts(KeptPart.maxContent + 40)
        let otherItem = ActivityID(checked: [UInt8](repeating: 9, count: ActivityID.byteCount))
        let others = [whole[0], try parts(KeptPart.maxContent + 40)[1], try parts(40, otherItem)[0]]
        for other in others {
            #expect(try open(Array(other.prefix(header)) + whole[1].dropFirst(header)) == nil)
        }
    }

    @Test func `a part opens only for its recipient, and only as one of its sender`() throws {
        let part = try parts(40)[0]
        let third = try SigningKey(seed: SecretBytes(copying: [UInt8](repeating: 7, count: 32)))
        #expect(try open(part) != nil)
        #expect(try seal(of: third, with: sender).open(part) == nil)
        #expect(try seal(of: recipient, with: sender, from: recipient).open(part) == nil)
        #expect(try seal(of: recipient, with: third, from: third).open(part) == nil)
    }

    @Test func `the first part contains the whole activity`() throws {
        let payload = [UInt8](repeating: 1, count: 1000)
        let bytes = try #require(KeptItemContent.encode(payload: payload, content: [2, 3]))
        #expect(bytes.count == KeptItemContent.size(payload: 1000, content: 2))
        #expect(KeptItemContent.encode(payload: [UInt8](repeating: 1, count: KeptPart.maxContent), content: []) == nil)
        #expect(KeptItemContent(first: [0, 0, 0]) == nil && KeptItemContent(first: [0, 0, 0, 1]) == nil)
        #expect(KeptItemContent(first: [255, 255, 255, 255, 1]) == nil)
        #expect(KeptItemContent(first: [0, 0, 0, 0])?.content.isEmpty == true)
    }
}
