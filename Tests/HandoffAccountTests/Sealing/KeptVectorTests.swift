import HandoffAccount
import HandoffCrypto
import HandoffModel
import HandoffProtocol
import Testing

/// The records of kept activities (docs/protocol.md#records): their layout, their limits, and the
/// purposes of their signatures.
@Suite struct KeptVectorTests {
    private let vectors: ProtocolVectors
    private let origin: SigningKey
    private let other: SigningKey
    private let activity = ActivityID(checked: Array(0x50...0x5F))
    private let stamp = KeptStamp(position: Position(generation: 1_800_000_000, seq: 5), time: 1_800_000_060)

    init() throws {
        vectors = try ProtocolVectors("kept")
        origin = try SigningKey(seed: SecretBytes(copying: vectors["seed"]))
        other = try SigningKey(seed: SecretBytes(copying: vectors["seedB"]))
    }

    private var id: DeviceID { DeviceID(origin.publicKey) }

    private func copy(
        _ stamp: KeptStamp? = nil, lifetime: UInt64 = 86_400, payload: [UInt8]? = nil
    ) throws -> KeptCopy? {
        let stamp = stamp ?? self.stamp
        return try KeptCopy(
            origin: id, stamp: stamp, activity: activity, end: stamp.time &+ lifetime,
            payload: payload ?? vectors["payload"], key: origin)
    }

    private func list(
        _ stamp: KeptStamp? = nil, first: UInt64 = 1_799_999_990, lifetime: UInt64 = 86_400,
        activities: [ActivityID]? = nil
    ) throws -> KeptList? {
        let stamp = stamp ?? KeptStamp(position: self.stamp.position, time: self.stamp.time + 1)
        return try KeptList(
            origin: id, stamp: stamp, firstGeneration: first, end: stamp.time &+ lifetime,
            activities: activities ?? [activity, ActivityID(checked: [UInt8](repeating: 1, count: 16))], key: origin)
    }

    private func receipt() throws -> KeptReceipt {
        try KeptReceipt(
            device: DeviceID(other.publicKey), origin: id, activity: activity, time: 1_800_003_600, key: other)
    }

    @Test func `the records have the bytes of the vectors`() throws {
        #expect(try copy()?.encoded == vectors["copy"])
        #expect(try list()?.encoded == vectors["list"])
        #expect(try receipt().encoded == vectors["receipt"])
    }

    @Test func `decoded records have the same fields, and valid signatures`() throws {
        let copy = try KeptCopy(decoding: vectors["copy"])
        #expect(copy.origin == id && copy.stamp == stamp && copy.activity == activity)
        #expect(try copy.end == 1_800_086_460 && copy.payload == vectors["payload"])
        #expect(try copy.encoded == vectors["copy"] && copy.isGenuine(origin.publicKey))
        #expect(!copy.isGenuine(other.publicKey))
        let list = try KeptList(decoding: vectors["list"])
        #expect(list.firstGeneration == 1_799_999_990 && list.activities.count == 2 && list.end == 1_800_086_461)
        #expect(try list.encoded == vectors["list"] && list.isGenuine(origin.publicKey))
        #expect(!list.isGenuine(other.publicKey))
        let receipt = try KeptReceipt(decoding: vectors["receipt"])
        #expect(receipt.origin == id && receipt.activity == activity && receipt.time == 1_800_003_600)
        #expect(try receipt.encoded == vectors["receipt"] && receipt.isGenuine(other.publicKey))
        #expect(!receipt.isGenuine(origin.publicKey))
    }

    @Test func `a change of any byte is invalid, or not genuine`() throws {
        for index in try vectors["copy"].indices {
            var bytes = try vectors["copy"]
            bytes[index] ^= 1
            #expect((try? KeptCopy(decoding: bytes))?.isGenuine(origin.publicKey) != true, "byte \(index) of a copy")
        }
        for index in try vectors["list"].indices {
            var bytes = try vectors["list"]
            bytes[index] ^= 1
            #expect((try? KeptList(decoding: bytes))?.isGenuine(origin.publicKey) != true, "byte \(index) of a list")
        }
        for index in try vectors["receipt"].indices {
            var bytes = try vectors["receipt"]
            bytes[index] ^= 1
            #expect(
                (try? KeptReceipt(decoding: bytes))?.isGenuine(other.publicKey) != true, "byte \(index) of a receipt")
        }
    }

    @Test func `truncated and extended bytes are refused`() throws {
        let (copy, list, receipt) = try (vectors["copy"], vectors["list"], vectors["receipt"])
        // A copy has at least one byte of payload. More or fewer bytes of it are another payload.
        for count in 0...140 { #expect(throws: ByteError.self) { try KeptCopy(decoding: Array(copy.prefix(count))) } }
        #expect(try !KeptCopy(decoding: copy + [0]).isGenuine(origin.publicKey))
        #expect(try !KeptCopy(decoding: copy.dropLast()).isGenuine(origin.publicKey))
        for count in list.indices {
            #expect(throws: ByteError.self) { try KeptList(decoding: Array(list.prefix(count))) }
        }
        #expect(throws: ByteError.self) { try KeptList(decoding: list + [0]) }
        for count in receipt.indices {
            #expect(throws: ByteError.self) { try KeptReceipt(decoding: Array(receipt.prefix(count))) }
        }
        #expect(throws: ByteError.self) { try KeptReceipt(decoding: receipt + [0]) }
    }

    @Test func `a signature is valid for one purpose only`() throws {
        let head = Array(try vectors["copy"].prefix(76))
        let payload = try vectors["payload"]
        let purposes = [
            "", "handoff/1 statement\0", "handoff/1 advert sig\0", "handoff/1 beacon sig\0", "handoff/1 pair\0",
            "handoff/1 kept list\0", "handoff/1 kept receipt\0", "handoff/1 kept",
        ]
        for purpose in purposes {
            let signature = try origin.sign(Array(purpose.utf8) + head + payload)
            #expect(try !KeptCopy(decoding: head + signature + payload).isGenuine(origin.publicKey), "\(purpose)")
        }
        let listHead = Array(try vectors["list"].dropLast(64))
        for purpose in ["handoff/1 kept\0", "handoff/1 kept receipt\0"] {
            let signature = try origin.sign(Array(purpose.utf8) + listHead)
            #expect(try !KeptList(decoding: listHead + signature).isGenuine(origin.publicKey), "\(purpose)")
        }
        let receiptHead = Array(try vectors["receipt"].dropLast(64))
        for purpose in ["handoff/1 kept\0", "handoff/1 kept list\0"] {
            let signature = try other.sign(Array(purpose.utf8) + receiptHead)
            #expect(try !KeptReceipt(decoding: receiptHead + signature).isGenuine(other.publicKey), "\(purpose)")
        }
    }

    @Test func `values beyond the limits are refused, when they are signed and when they are decoded`() throws {
        #expect(try copy(lifetime: 0) == nil && copy(lifetime: 86_401) == nil && copy(lifetime: 1) != nil)
        #expect(try copy(payload: []) == nil && copy(payload: [UInt8](repeating: 32, count: 524_289)) == nil)
        #expect(try copy(payload: [UInt8](repeating: 32, count: 524_288)) != nil)
        let position = Position(generation: 7, seq: 0)
        #expect(try copy(KeptStamp(position: position, time: .max - 1), lifetime: 86_400) == nil, "the end overflows")
        let stamp = KeptStamp(position: position, time: 100)
        let nine = (0..<9).map { ActivityID(checked: [UInt8](repeating: $0, count: 16)) }
        #expect(try list(stamp, first: 7, activities: Array(nine.prefix(8))) != nil)
        #expect(try list(stamp, first: 7, activities: []) != nil)
        #expect(try list(stamp, first: 7, activities: nine) == nil)
        #expect(try list(stamp, first: 7, activities: [nine[0], nine[0]]) == nil)
        #expect(try list(stamp, first: 0) == nil && list(stamp, first: 8) == nil && list(stamp, first: 1) != nil)
        #expect(try list(stamp, first: 7, lifetime: 0) == nil && list(stamp, first: 7, lifetime: 86_401) == nil)

        func changed(_ name: String, _ offset: Int, _ value: [UInt8]) throws -> [UInt8] {
            var bytes = try vectors[name]
            bytes.replaceSubrange(offset..<offset + value.count, with: value)
            return bytes
        }
        let (none, all) = ([UInt8](repeating: 0, count: 8), [UInt8](repeating: 255, count: 8))
        // The generation of a copy, its time and its end.
        for (offset, value) in [(32, none), (32, all), (60, none), (60, all), (68, none), (68, all)] {
            #expect(throws: ByteError.self) { try KeptCopy(decoding: changed("copy", offset, value)) }
        }
        // The generation of a list, the first one, its time, its end, the number of activities.
        for (offset, value) in [
            (32, none), (32, all), (44, none), (44, all), (52, none), (52, all), (60, none), (60, all), (68, [0]),
            (68, [1]), (68, [3]), (68, [9]), (68, [255]),
        ] {
            #expect(throws: ByteError.self) { try KeptList(decoding: changed("list", offset, value)) }
        }
        #expect(throws: ByteError.self) { try KeptReceipt(decoding: changed("receipt", 0, id.bytes)) }
    }

    @Test func `a list withdraws older copies of its generation, and all of earlier ones`() throws {
        let list = try #require(try list())
        let unlisted = ActivityID(checked: [UInt8](repeating: 9, count: 16))
        #expect(!list.withdraws(activity, stamp) && list.withdraws(unlisted, stamp))
        let newer = KeptStamp(position: stamp.position, time: stamp.time + 2)
        #expect(!list.withdraws(unlisted, newer))
        let former = KeptStamp(position: Position(generation: 1_799_999_990, seq: 9), time: 1)
        #expect(!list.withdraws(unlisted, former))
        let first = KeptStamp(position: Position(generation: 1_799_999_989, seq: 9), time: .max)
        #expect(list.withdraws(activity, first))
    }
}
