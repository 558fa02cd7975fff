import HandoffModel
import HandoffProtocol
import Testing

@Suite struct AnnouncementTests {
    private static func full() throws -> Announcement {
        let activities = [
            ActivitySummary(
                id: try #require(ActivityID(bytes: 1...16)), type: try #require(ActivityType("com.example.read")),
                title: "Ünïcode", team: "TEAM1", supportsStreams: true, hasWebpageURL: true, age: 70),
            try Samples.activity(2, title: nil),
        ]
        return try #require(
            Announcement(
                deviceID: try Samples.device(1), position: Position(generation: 0x0102_0304_0506, seq: 7), port: 24863,
                kind: .phone, rosterDigest: Array(8..<16), listSeq: 3, activities: activities))
    }

    @Test func `the header has the documented layout`() throws {
        let bytes = try Self.full().encode(capacity: 300)
        #expect(bytes.count == 300)
        #expect(Array(bytes[0..<32]) == [UInt8](repeating: 1, count: 32))
        #expect(Array(bytes[32..<40]) == [0, 0, 1, 2, 3, 4, 5, 6])
        #expect(Array(bytes[40..<44]) == [0, 0, 0, 7])
        #expect(Array(bytes[44..<46]) == [0x61, 0x1F])
        #expect(bytes[46] == 4 && bytes[47] == 0)
        #expect(Array(bytes[48..<56]) == Array(8..<16))
        #expect(Array(bytes[56..<60]) == [0, 0, 0, 3])
        #expect(bytes[60] == 2)
        #expect(Array(bytes[61..<77]) == Array(1...16))
        #expect(Array(bytes[77..<81]) == [0, 0, 0, 70])
        #expect(bytes[81] == 0x0F && bytes[82] == 16)
    }

    @Test(arguments: [200, 588, 1087]) func `an announcement that fits survives encoding and decoding`(capacity: Int)
        throws
    {
        let announcement = try Self.full()
        #expect(try Announcement(decoding: announcement.encode(capacity: capacity)) == announcement)
    }

    @Test func `activities that do not fit are omitted and flagged`() throws {
        let announcement = try Samples.announcement(1, activities: Array(1...40))
        let decoded = try Announcement(decoding: announcement.encode(capacity: 588))
        #expect(decoded.hasMore)
        #expect(decoded.activities == Array(announcement.activities.prefix(decoded.activities.count)))
        #expect(decoded.activities.count == (588 - 61) / (16 + 4 + 1 + 1 + 16 + 1 + 6))
    }

    @Test func `an activity sent to one device is flagged`() throws {
        let plain = try Samples.activity(1)
        let sent = ActivitySummary(
            id: plain.id, type: plain.type, title: plain.title, team: nil, supportsStreams: false, hasWebpageURL: false,
            age: 0, isSent: true)
        let announcement = try #require(
            Announcement(
                deviceID: try Samples.device(1), position: Position(generation: 1, seq: 0), port: 1, kind: .other,
                rosterDigest: [UInt8](repeating: 0, count: 8), listSeq: 0, activities: [sent]))
        let read = try #require(try Announcement(decoding: announcement.encode(capacity: 300)).activities.first)
        #expect(read.isSent)
        let listed = try ActivitySummary(json: sent.json)
        #expect(listed.isSent)
        #expect(try !ActivitySummary(json: plain.json).isSent)
    }

    @Test func `a receiver that does not know sleep reads a goodbye`() throws {
        let flags = 47
        let asleep = try Samples.announcement(1, leaveReason: .sleep)
        var bytes = asleep.encode(capacity: Announcement.headerCount)
        #expect(try Announcement(decoding: bytes) == asleep)
        #expect(bytes[flags] == 1 | 4)
        bytes[flags] = 4
        #expect(try Announcement(decoding: bytes).leaveReason == nil, "the flag is ignored on its own")
    }

    @Test func `the flag of kept records is independent of the others`() throws {
        var announcement = try Samples.announcement(1)
        let plain = announcement.encode(capacity: 300)
        announcement.holdsKept = true
        let bytes = announcement.encode(capacity: 300)
        #expect(bytes[47] == plain[47] | 8)
        #expect(try Announcement(decoding: bytes) == announcement)
    }

    @Test func `an empty announcement is only its header`() throws {
        let announcement = try Samples.announcement(1, leaveReason: .goodbye)
        let bytes = announcement.encode(capacity: Announcement.headerCount)
        #expect(try Announcement(decoding: bytes) == announcement)
    }

    @Test func `long titles are truncated at a character`() throws {
        let title = String(repeating: "ä", count: 100)
        let announcement = try #require(
            Announcement(
                deviceID: try Samples.device(1), position: Position(generation: 1, seq: 0), port: 1, kind: .other,
                rosterDigest: [UInt8](repeating: 0, count: 8), listSeq: 0,
                activities: [try Samples.activity(1, title: title)]))
        let decoded = try Announcement(decoding: announcement.encode(capacity: 588))
        #expect(decoded.activities.first?.title == String(repeating: "ä", count: 62) + "…")
    }

    @Test func `every truncation is an error`() throws {
        let announcement = try Self.full()
        let used = announcement.encode(capacity: 61 + 22 + 16 + 1 + 9 + 1 + 5 + 22 + 16)
        #expect(try Announcement(decoding: used) == announcement)
        for count in 0..<used.count {
            #expect(throws: ByteError.self) { try Announcement(decoding: Array(used.prefix(count))) }
        }
    }

    @Test(arguments: [
        (offset: 44, bytes: [0, 0] as [UInt8]),  // port 0
        (offset: 32, bytes: [0x80]),  // a generation that JSON cannot represent
        (offset: 32, bytes: [0, 0, 0, 0, 0, 0, 0, 0]),  // generation 0
        (offset: 59, bytes: [8]),  // activities newer than the announcement
        (offset: 60, bytes: [3]),  // a third activity made of padding
        (offset: 60, bytes: [1]),  // nonzero padding
        (offset: 82, bytes: [0]),  // an empty type
        (offset: 83, bytes: [0xFF]),  // a type that is not text
        (offset: 299, bytes: [1]),
    ]) func `invalid fields are errors`(offset: Int, bytes: [UInt8]) throws {
        var encoded = try Self.full().encode(capacity: 300)
        encoded.replaceSubrange(offset..<(offset + bytes.count), with: bytes)
        #expect(throws: ByteError.self) { try Announcement(decoding: encoded) }
    }

    @Test func `a duplicate id is an error`() throws {
        let twice = try Samples.announcement(1, activities: [5, 5])
        #expect(throws: ByteError.malformed) { try Announcement(decoding: twice.encode(capacity: 300)) }
    }

    @Test func `additions of later versions are ignored`() throws {
        var encoded = try Self.full().encode(capacity: 300)
        encoded[46] = 99
        // Including 8, which is reserved for kept activities.
        encoded[47] |= 0xF8
        encoded[81] |= 0xE0
        let decoded = try Announcement(decoding: encoded)
        #expect(decoded.kind == .other)
        #expect(decoded.activities == (try Self.full().activities))
    }

    @Test(arguments: 1...300 as ClosedRange<UInt64>) func `changed bytes never trap`(seed: UInt64) throws {
        var random = FixedRandom(state: seed)
        var encoded = try Self.full().encode(capacity: 300)
        for _ in 0..<3 { encoded[Int.random(in: 32..<160, using: &random)] = UInt8.random(in: 0...255, using: &random) }
        if let decoded = try? Announcement(decoding: encoded) {
            #expect(
                try Announcement(decoding: decoded.encode(capacity: 1087)).activities.count <= decoded.activities.count)
        }
    }

    @Test func `acknowledgements have a fixed size and survive encoding and decoding`() throws {
        let value = Acknowledgement(
            deviceID: try Samples.device(3), position: Position(generation: 9, seq: 8), host: Array(1...16)
        ) { Array($0.suffix(16)) }
        let bytes = value.encoded()
        #expect(bytes.count == 79)
        #expect(try Acknowledgement(decoding: bytes) == value)
        #expect(throws: ByteError.truncated) { try Acknowledgement(decoding: Array(bytes.prefix(75))) }
        #expect(throws: ByteError.malformed) { try Acknowledgement(decoding: bytes.dropLast() + [1]) }
    }
}
