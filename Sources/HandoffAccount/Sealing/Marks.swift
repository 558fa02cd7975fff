import HandoffCrypto
package import HandoffProtocol

/// The marks beside a beacon: one for each member that the device misses and for each open ticket, and random bytes in all
/// other places, so that nobody can tell how many those are.
package struct Marks: Sendable, Equatable {
    /// Bytes of one mark.
    package static let markCount = 8
    /// Places for marks.
    package static let places = 16
    /// Bytes of all.
    package static let byteCount = markCount * places

    /// The bytes as they stand in the TXT record.
    package let bytes: [UInt8]

    /// Marks as they were found; nil unless there are exactly 128 bytes.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = Array(bytes)
    }

    /// Marks for one beacon. All their bytes are other ones in the next beacon, so that nobody learns how many are marks.
    ///
    /// - Parameters:
    ///   - salt: that of the beacon.
    ///   - missing: the keys shared with those that are missed; beyond 16 they find no place.
    package init(under label: Label, salt: [UInt8], for missing: [PairwiseKeys]) {
        var places = missing.prefix(Self.places).map { $0.mark(under: label, salt: salt) }
        while places.count < Self.places { places.append(Randomness.bytes(Self.markCount)) }
        bytes = places.shuffled().flatMap(\.self)
    }

    /// Whether one of them is `mark`. Compares in plain time: everybody on the link can read both.
    package func contains(_ mark: [UInt8]) -> Bool {
        stride(from: 0, to: bytes.count, by: Self.markCount).contains { start in
            bytes[start..<(start + Self.markCount)].elementsEqual(mark)
        }
    }
}
