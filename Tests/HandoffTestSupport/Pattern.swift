import Glibc

/// One period of the pattern. Its length is prime, so that no two blocks of a transfer start at the
/// same offset.
private let round: [UInt8] = (0..<65_521).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8 &* 7) }

/// Bytes that reveal a lost, duplicated or misplaced part. Copied in large pieces, because a
/// sanitizer makes a loop over bytes slow.
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

/// Compares bytes with one call.
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
