import HandoffModel
import HandoffProtocol
import Testing

/// Values shared by the tests. Every number is fixed.
enum Samples {
    static func device(_ number: UInt8) throws -> DeviceID {
        try #require(DeviceID(bytes: [UInt8](repeating: number, count: 32)))
    }

    static func label(_ number: UInt8) throws -> Label {
        try #require(Label(bytes: [UInt8](repeating: number, count: 16)))
    }

    static func address(_ last: UInt8, port: UInt16 = 24863) throws -> PeerAddress {
        try #require(PeerAddress(host: [192, 0, 2, last], port: port))
    }

    /// The arrival of an advert from the device's address.
    static func arrival(_ device: UInt8) throws -> AdvertArrival {
        AdvertArrival(
            source: try address(device), host: try address(200).hostInIPv6,
            salt: [UInt8](repeating: device, count: 16))
    }

    static func activity(
        _ number: UInt8, type: String = "com.example.note", title: String? = "A note", age: UInt32 = 0
    ) throws -> ActivitySummary {
        ActivitySummary(
            id: try #require(ActivityID(bytes: [UInt8](repeating: number, count: 16))),
            type: try #require(ActivityType(type)), title: title, team: nil, supportsStreams: false,
            hasWebpageURL: false, age: age)
    }

    static func announcement(
        _ device: UInt8, generation: UInt64 = 100, seq: UInt32 = 0, port: UInt16 = 24863,
        leaveReason: LeaveReason? = nil,
        hasMore: Bool = false, digest: UInt8 = 0, listSeq: UInt32? = nil, activities: [UInt8] = []
    ) throws -> Announcement {
        try #require(
            Announcement(
                deviceID: try self.device(device), position: Position(generation: generation, seq: seq), port: port,
                kind: .laptop,
                leaveReason: leaveReason, hasMore: hasMore, rosterDigest: [UInt8](repeating: digest, count: 8),
                listSeq: listSeq ?? seq,
                activities: try activities.map { try activity($0) }))
    }

    static func hello(
        generation: UInt64 = 100, seq: UInt32? = nil, listSeq: UInt32? = nil, seenGeneration: UInt64? = nil,
        label: UInt8? = 9,
        digest: UInt8 = 0, epoch: UInt8? = 1, port: UInt16 = 24863, leaveReason: LeaveReason? = nil
    ) throws -> Hello {
        try #require(
            Hello(
                software: "test/1", kind: .laptop, port: port, label: try label.map { try self.label($0) },
                generation: generation,
                seq: seq, listSeq: listSeq, seenGeneration: seenGeneration,
                rosterDigest: [UInt8](repeating: digest, count: 8),
                epoch: epoch.map { [UInt8](repeating: $0, count: 8) }, leaveReason: leaveReason))
    }

    /// A time in milliseconds, long after the machine was started.
    static func at(_ milliseconds: UInt64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: 1_000_000_000_000 + milliseconds * 1_000_000)
    }
}

/// A generator that repeats the same numbers in every run (SplitMix64).
struct FixedRandom: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
