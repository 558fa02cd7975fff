extension String {
    /// Whether both texts are the same UTF-8 bytes.
    ///
    /// `==` is canonical equivalence, which would make one key of two that differ only in composition.
    package func hasSameBytes(as other: String) -> Bool {
        let left = utf8
        let right = other.utf8
        guard left.count == right.count else { return false }
        return left.elementsEqual(right)
    }

    /// Feeds the UTF-8 bytes, and a terminator that no UTF-8 text contains, to a hasher.
    package func hashBytes(into hasher: inout Hasher) {
        for byte in utf8 { hasher.combine(byte) }
        hasher.combine(0xFF as UInt8)
    }

    /// Whether the UTF-8 bytes of this text sort before those of the other.
    package func precedesInBytes(_ other: String) -> Bool {
        utf8.lexicographicallyPrecedes(other.utf8)
    }
}
