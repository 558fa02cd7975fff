import Glibc

/// One round of the pattern. Its length is a prime, so that no block of a transfer begins where another one did.
private let round: [UInt8] = (0..<65_521).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8 &* 7) }

/// Bytes in which a lost, doubled or misplaced part shows, copied in large pieces: a sanitizer makes a loop over bytes slow.
package func pattern(_ count: Int, from start: Int = 0) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    var offset = start % round.count
    while bytes.count < count {
        let piece = round[offset..<min(round.count, offset + count - bytes.count)]
        bytes.append(contentsOf: piece)
        offset = 0
    }
    return bytes
}

/// Whether bytes are equal, by one call.
package func same(_ one: ArraySlice<UInt8>, _ other: ArraySlice<UInt8>) -> Bool {
    one.withUnsafeBytes { one in
        other.withUnsafeBytes { other in
            guard one.count == other.count, let first = one.baseAddress, let second = other.baseAddress else {
                return one.isEmpty && other.isEmpty
            }
            return memcmp(first, second, one.count) == 0
        }
    }
}
