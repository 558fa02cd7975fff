/// The text of a UUID (RFC 9562 section 4): 8-4-4-4-12 hexadecimal digits.
package enum UUIDText {
    private static let groups = [4, 2, 2, 2, 6]

    /// Upper case, as Foundation prints it; the bytes must be 16, others are left out or missing.
    package static func encode(_ bytes: [UInt8]) -> String {
        var rest = bytes[...]
        return groups.map { count in
            defer { rest = rest.dropFirst(count) }
            return Hex.encode(Array(rest.prefix(count))).uppercased()
        }.joined(separator: "-")
    }

    /// The 16 bytes; nil unless the text has exactly this form, in either case.
    package static func decode(_ text: String) -> [UInt8]? {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.map(\.count) == groups.map({ $0 * 2 }) else { return nil }
        // The lengths leave no room for what Hex.decode would ignore, except a space or colon: then bytes are missing.
        guard let bytes = Hex.decode(text), bytes.count == 16 else { return nil }
        return bytes
    }
}
