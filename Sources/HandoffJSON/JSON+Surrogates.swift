extension JSON {
    /// Returns a copy of `text` with each escaped unpaired surrogate replaced by an escaped U+FFFD.
    /// JavaScript writes such escapes for a string that was cut inside a character.
    package static func replacingUnpairedSurrogates(in text: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var rest = text
        while let byte = rest.first {
            guard byte == UInt8(ascii: "\\") else {
                result.append(byte)
                rest.removeFirst()
                continue
            }
            var count = 2
            switch surrogate(rest) ?? 0 {
            case 0xD800..<0xDC00:
                count = 6
                guard let low = surrogate(rest.dropFirst(6)), low >= 0xDC00 else { break }
                count = 12
            case 0xDC00..<0xE000: count = 6
            default: break
            }
            result += count == 6 ? Array("\\uFFFD".utf8) : Array(rest.prefix(count))
            rest = rest.dropFirst(count)
        }
        return result
    }

    /// Returns the surrogate that an escape at the start of `text` encodes, or nil if there is
    /// none.
    private static func surrogate(_ text: ArraySlice<UInt8>) -> UInt16? {
        guard text.starts(with: "\\u".utf8), text.count >= 6 else { return nil }
        let digits = String(decoding: text.dropFirst(2).prefix(4), as: UTF8.self)
        // The initializer also accepts a sign, so reject it here.
        guard let code = UInt16(digits, radix: 16), digits.utf8.first != UInt8(ascii: "+") else { return nil }
        return (0xD800..<0xE000).contains(code) ? code : nil
    }
}
