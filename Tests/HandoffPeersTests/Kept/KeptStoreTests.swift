import HandoffAccount
import HandoffCrypto
import HandoffModel
import HandoffPeers
import HandoffProtocol
import Testing

/// The records of kept activities on one device.
@Suite struct KeptStoreTests {
    private let desk: KeptSigner
    private let couch: KeptSigner
    private let hall: KeptSigner
    private var store = KeptStore()

    init() throws {
        (desk, couch, hall) = (try KeptSigner(0), try KeptSigner(1), try KeptSigner(2))
    }

    private func context(_ seconds: UInt64 = 0, count: Int? = nil, clock: UInt64? = nil) -> KeptStore.Context {
        KeptStore.Context([desk, couch, hall], at: seconds, count: count, clock: clock)
    }

    private mutating func merge(
        _ record: KeptRecord, left: UInt64? = nil, at seconds: UInt64 = 0, count: Int? = nil
    ) -> KeptStore.Outcome {
        store.merge(record, left: left ?? record.lifetime, context(seconds, count: count))
    }

    private func numbers(_ store: KeptStore) -> [UInt8] { store.activities.map { $0.summary.id.bytes[0] }.sorted() }

    @Test mutating func `of one activity the newest copy is kept`() throws {
        #expect(try merge(desk.copy(1, at: 5)) == .stored)
        #expect(try merge(desk.copy(1, at: 5)) == .known)
        #expect(try merge(desk.copy(1, at: 4)) == .outdated)
        #expect(try merge(desk.copy(1, at: 6)) == .stored)
        #expect(try merge(desk.copy(1, at: 1, generation: 2)) == .stored)
        #expect(try merge(desk.copy(1, at: 9)) == .outdated)
        #expect(try merge(couch.copy(1, at: 0)) == .stored, "another origin")
        #expect(store.count == 2)
        #expect(store.activity(KeptSigner.activity(1), of: desk.id)?.stamp.position.generation == 2)
    }

    @Test mutating func `only genuine records of members are stored`() throws {
        let stranger = try KeptSigner(9)
        #expect(try merge(stranger.copy(1, at: 1)) == .refused(.unknownDevice))
        #expect(try merge(stranger.receipt(1, of: desk, at: 1)) == .refused(.unknownDevice))
        #expect(try merge(desk.receipt(1, of: stranger, at: 1)) == .refused(.unknownDevice))
        guard case .copy(let copy) = try desk.copy(1, at: 1) else { return }
        var bytes = copy.encoded
        bytes[80] ^= 1
        #expect(merge(.copy(try KeptCopy(decoding: bytes))) == .refused(.invalid))
        for payload in ["1", "{}", "{", #"{"type":"a b"}"#, #"{"type":"a","webpageURL":"http://10.0.0.1/"}"#, "\u{0}"] {
            #expect(try merge(desk.copy(2, at: 1, payload: payload)) == .refused(.invalid), "\(payload)")
        }
        let deep = String(repeating: "[", count: 200_000)
        #expect(try merge(desk.copy(2, at: 1, payload: deep)) == .refused(.invalid))
        #expect(store.isEmpty && store.byteCount == 0)
    }

    @Test mutating func `an item is complete only with all parts of one version, in any order`() throws {
        let bytes = 2 * KeptPart.maxContent + 50
        let old = try desk.parts(1, for: couch, bytes, at: 10)
        let new = try desk.parts(1, for: couch, bytes, at: 20)
        func item(_ store: KeptStore) -> [Int]? {
            store.activity(KeptSigner.activity(1), of: desk.id)?.part
                .flatMap { store.parts(of: $0, from: desk.id) }?.compactMap(\.part?.number)
        }
        #expect(merge(old[2]) == .stored && merge(old[0]) == .stored)
        #expect(merge(old[0]) == .known && item(store) == nil, "one is missing")
        #expect(merge(old[1]) == .stored)
        #expect(item(store) == [0, 1, 2])
        // Parts of two versions are not joined.
        #expect(merge(new[1]) == .stored && item(store) == nil)
        #expect(merge(old[1]) == .outdated && merge(new[0]) == .stored && item(store) == nil)
        #expect(merge(new[2]) == .stored)
        #expect(item(store) == [0, 1, 2])
        // A part of another member that copies the header.
        guard case .copy(let first) = new[0] else { return }
        #expect(try merge(hall.copy(1, at: 30, bytes: first.payload)) == .stored)
        #expect(item(store) == [0, 1, 2])
        store.retain([couch.id, hall.id])
        #expect(item(store) == nil && store.activities.allSatisfy { $0.origin == hall.id })
    }

    @Test mutating func `a part in a copy of another activity is refused, and so are other numbers`() throws {
        guard case .copy(let copy) = try desk.parts(1, for: couch, 50, at: 1)[0] else { return }
        #expect(try merge(desk.copy(2, at: 2, bytes: copy.payload)) == .refused(.invalid))
        for (index, value) in [(65, 1), (66, 0), (66, 9), (65, 255)] as [(Int, UInt8)] {
            var payload = copy.payload
            payload[index] = value
            #expect(try merge(desk.copy(1, at: 2, bytes: payload)) == .refused(.invalid))
        }
        #expect(try merge(desk.copy(1, at: 2, bytes: Array(copy.payload.prefix(99)))) == .refused(.invalid))
        #expect(store.isEmpty)
    }

    @Test mutating func `a list withdraws the copies that it does not contain, in any order`() throws {
        #expect(try merge(desk.copy(1, at: 1)) == .stored && merge(desk.copy(2, at: 2)) == .stored)
        #expect(try merge(desk.list([2], at: 3)) == .stored)
        #expect(numbers(store) == [2])
        #expect(try merge(desk.copy(1, at: 1)) == .outdated)
        #expect(try merge(desk.list([1, 2], at: 2)) == .outdated)
        #expect(try merge(desk.copy(1, at: 4)) == .stored, "it was published again")
        // After a restart, the copies of the former start stay, but not those that it had withdrawn.
        #expect(try merge(desk.list([], at: 5, generation: 2)) == .stored)
        #expect(numbers(store) == [1, 2])
        #expect(try merge(desk.copy(3, at: 1)) == .outdated, "the former list is still known")
        #expect(try merge(desk.list([], at: 6, generation: 3, first: 3)) == .stored)
        #expect(numbers(store) == [] && store.count == 1, "only the list of the last start remains")
        #expect(try merge(desk.copy(2, at: 9, generation: 2)) == .outdated)
        #expect(try merge(desk.list([2], at: 9, generation: 2)) == .outdated)
    }

    @Test mutating func `four starts of an origin are known`() throws {
        for generation in UInt64(1)...5 {
            #expect(try merge(desk.copy(UInt8(generation), at: 1, generation: generation)) == .stored)
            #expect(try merge(desk.list([UInt8(generation)], at: 2, generation: generation)) == .stored)
        }
        #expect(numbers(store) == [2, 3, 4, 5] && store.count == 8)
        #expect(try merge(desk.list([1], at: 9, generation: 1)) == .outdated)
    }

    @Test mutating func `the newest copies that fit are kept`() throws {
        for number in UInt8(1)...9 { #expect(try merge(desk.copy(number, at: UInt64(number))) == .stored) }
        #expect(numbers(store) == Array(2...9))
        #expect(try merge(desk.copy(20, at: 0)) == .refused(.full))
        #expect(try merge(couch.copy(1, at: 0)) == .stored, "another origin has its own quota")

        store = KeptStore()
        for number in UInt8(1)...4 {
            #expect(try merge(desk.copy(number, at: UInt64(number), bytes: KeptLimits.maxPayload)) == .stored)
        }
        #expect(numbers(store) == [1, 2, 3, 4] && store.byteCount == KeptLimits.maxPayloads)
        #expect(try merge(desk.copy(5, at: 5)) == .stored)
        #expect(numbers(store) == [2, 3, 4, 5])
        // A smaller copy of the same activity is counted instead of the larger one.
        #expect(try merge(desk.copy(2, at: 6)) == .stored && merge(desk.copy(6, at: 7)) == .stored)
        #expect(numbers(store) == [2, 3, 4, 5, 6])
    }

    @Test mutating func `the members share the memory`() throws {
        // 6 MiB among 12 members.
        #expect(try merge(desk.copy(1, at: 1, bytes: KeptLimits.maxPayload), count: 12) == .stored)
        #expect(try merge(desk.copy(2, at: 2), count: 12) == .stored)
        #expect(numbers(store) == [2])
        #expect(try merge(desk.copy(3, at: 3, bytes: KeptLimits.maxPayload), count: 13) == .refused(.full))
        #expect(numbers(store) == [2], "a copy that is too large displaces none")
        #expect(KeptLimits.payloadShare(members: 1) == KeptLimits.maxPayloads)
        #expect(KeptLimits.payloadShare(members: 0) == KeptLimits.maxPayloads)
        #expect(KeptLimits.payloadShare(members: 256) == 24 * 1024)
        // Even a full account has less records than a list of names may have.
        let records = 256 * (KeptLimits.maxCopies + KeptLimits.maxLists + KeptLimits.receiptShare(members: 256))
        #expect(records <= KeptSyncMachine.maxNames)
    }

    @Test mutating func `receipts are limited for each device, and none is accepted twice`() throws {
        for time in UInt64(1)...70 { #expect(try merge(couch.receipt(1, of: desk, at: time)) == .stored) }
        #expect(store.count == KeptLimits.maxReceipts)
        #expect(store.allReceipts.map(\.time).min() == KeptSigner.start + 7)
        #expect(try merge(couch.receipt(1, of: desk, at: 6)) == .outdated, "it was displaced")
        #expect(try merge(couch.receipt(2, of: desk, at: 3)) == .outdated)
        #expect(try merge(hall.receipt(1, of: desk, at: 3)) == .stored, "another device has its own quota")
        store.expire(at: context(86_400).now)
        #expect(store.isEmpty)
        #expect(try merge(couch.receipt(1, of: desk, at: 70), at: 86_400) == .outdated, "it has expired")
        #expect(try merge(couch.receipt(1, of: desk, at: 71), at: 86_400) == .stored)
    }

    @Test mutating func `records end with their remaining time, and are not accepted again`() throws {
        #expect(try merge(desk.copy(1, at: 1, lifetime: 100)) == .stored)
        #expect(try merge(desk.copy(2, at: 2, lifetime: 50), left: 9_999) == .stored, "at most its lifetime")
        #expect(try merge(desk.copy(3, at: 3), left: 0) == .outdated)
        #expect(try merge(desk.list([1, 2], at: 4, lifetime: 200)) == .stored)
        #expect(store.nextDeadline == context(50).now)
        store.expire(at: context(50).now)
        #expect(numbers(store) == [1])
        #expect(try merge(desk.copy(2, at: 2, lifetime: 50), at: 60) == .outdated)
        let name = try #require(store.allNames.first { store.record($0, at: context().now)?.record.kind == .copy })
        #expect(store.record(name, at: context(60).now)?.left == 40)
        #expect(store.record(name, at: context(100).now) == nil)
        store.expire(at: context(100).now)
        #expect(try merge(desk.copy(1, at: 1, lifetime: 100), at: 100) == .outdated)
        store.expire(at: context(200).now)
        #expect(store.isEmpty && store.nextDeadline == nil)
        #expect(try merge(desk.copy(5, at: 3), at: 200) == .outdated, "older than the list that has expired")
        #expect(try merge(desk.list([5], at: 3), at: 200) == .outdated)
        #expect(try merge(desk.copy(5, at: 5), at: 200) == .stored)
    }

    /// Otherwise it could make this device refuse them for good.
    @Test mutating func `a member that states a short remaining time does not end the records of others`() throws {
        let (copy, list) = (try desk.copy(1, at: 1), try desk.list([1], at: 2))
        #expect(merge(copy, left: 1) == .stored && merge(list, left: 1) == .stored)
        store.expire(at: context(5).now)
        #expect(numbers(store) == [1])
        // By a clock that is ahead, the record is over. The sender knows better, within the tolerance.
        let ahead = KeptSigner.start + KeptLimits.lifetime + 1000
        store.removeAll()
        #expect(store.merge(copy, left: 500, context(clock: ahead)) == .stored)
        #expect(store.nextDeadline == context(500).now)
    }

    @Test mutating func `records that expired long ago by this clock are not accepted`() throws {
        let record = try desk.copy(1, at: 0)
        let limit = KeptSigner.start + 2 * KeptLimits.lifetime
        #expect(store.merge(record, left: 86_400, context(clock: limit + 1)) == .outdated)
        #expect(try store.merge(couch.receipt(1, of: desk, at: 0), left: 9, context(clock: limit + 1)) == .outdated)
        #expect(store.merge(record, left: 86_400, context(clock: limit)) == .stored)
        #expect(
            try store.merge(desk.copy(2, at: 1), left: 86_400, context(clock: 0)) == .stored, "a clock that is behind")
    }

    @Test mutating func `the records of removed devices are dropped, and all receipts for them`() throws {
        for signer in [desk, couch, hall] {
            #expect(try merge(signer.copy(1, at: 1)) == .stored && merge(signer.list([1], at: 2)) == .stored)
        }
        #expect(try merge(couch.receipt(1, of: desk, at: 1)) == .stored)
        #expect(try merge(desk.receipt(1, of: couch, at: 1)) == .stored)
        #expect(try merge(hall.receipt(1, of: couch, at: 1)) == .stored)
        let live: Set = [desk.id, hall.id]
        store.retain(live)
        #expect(Set(store.activities.map(\.origin)) == live && store.allReceipts.isEmpty && store.count == 4)
        let present = KeptStore.Context([desk, hall])
        #expect(try store.merge(couch.copy(2, at: 9), left: 9, present) == .refused(.unknownDevice))
        #expect(store.list(of: couch.id) == nil && store.list(of: desk.id) != nil)
    }

    @Test mutating func `the digest is that of the present records`() throws {
        #expect(store.isEmpty)
        let empty = store.digest
        #expect(try merge(desk.copy(1, at: 1)) == .stored)
        let one = store.digest
        #expect(try merge(desk.copy(1, at: 2)) == .stored)
        #expect(store.digest != one)
        #expect(try merge(desk.list([], at: 3)) == .stored)
        let list = store.digest
        #expect(try merge(couch.receipt(1, of: desk, at: 1)) == .stored)
        store.retain([desk.id])
        #expect(store.digest == list)
        store.expire(at: context(86_400).now)
        #expect(store.digest == empty)
        #expect(try merge(couch.copy(1, at: 1)) == .stored)
        store.removeAll()
        #expect(store.digest == empty)
    }

    @Test func `the order of merging does not change the records`() throws {
        var random = SplitMix(seed: 1)
        for seed in UInt8(0)..<12 {
            // What three devices sign in some hours, with a restart, at most 8 activities at a time.
            var records: [KeptRecord] = []
            for (index, signer) in [desk, couch, hall].enumerated() {
                var (listed, generation) = ([UInt8](), UInt64(1))
                for time in UInt64(1)...14 {
                    if listed.count > 7 || UInt8.random(in: 0..<4, using: &random) == 0 {
                        listed = Array(listed.dropFirst())
                    } else {
                        let number = listed.randomElement(using: &random) ?? 0
                        let next = Bool.random(using: &random) ? number : UInt8(time) + seed
                        if !listed.contains(next) { listed.append(next) }
                        records.append(try signer.copy(next, at: 2 * time, generation: generation))
                    }
                    records.append(try signer.list(listed, at: 2 * time + 1, generation: generation))
                    if UInt8.random(in: 0..<8, using: &random) == 0 { (generation, listed) = (generation + 1, []) }
                }
                let other = [couch, hall, desk][index]
                for time in UInt64(1)...3 { records.append(try signer.receipt(1, of: other, at: time)) }
            }
            var results: Set<[KeptName]> = []
            for _ in 0..<6 {
                var store = KeptStore()
                // Older copies may be displaced by newer ones that are withdrawn later. Members offer them
                // again.
                var former: [KeptName]?
                while former != store.allNames {
                    former = store.allNames
                    for record in records.shuffled(using: &random) {
                        _ = store.merge(record, left: 86_400, context(50))
                    }
                }
                results.insert(store.allNames)
            }
            #expect(results.count == 1, "seed \(seed)")
        }
    }
}
