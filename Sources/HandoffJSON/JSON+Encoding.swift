extension JSON {
    /// Returns the compact JSON encoding. Each number has the shortest form that reads back as the
    /// same number.
    ///
    /// A real always has a fraction or an exponent, so that it is read back as a real. NaN and the
    /// infinities, which JSON lacks and the parser never produces, become `null`.
    package func encoded() -> [UInt8] {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.lend { Array($0) }
    }

    /// The number of bytes that ``encoded()`` returns.
    package var encodedCount: Int {
        switch self {
        case .null, .bool(true): 4
        case .bool(false): 5
        case .integer(let value): value.description.utf8.count
        case .real(let value): value.isFinite ? value.description.utf8.count : 4
        case .string(let value): JSON.encodedCount(value)
        case .array(let elements): elements.reduce(2 + max(0, elements.count - 1)) { $0 + $1.encodedCount }
        case .object(let object): object.encodedCount
        }
    }

    /// Appends the compact encoding to bytes that may already contain something, such as a frame
    /// header.
    package func encode(into output: inout [UInt8]) {
        var writer = JSONWriter()
        write(to: &writer)
        writer.lend { output.append(contentsOf: $0) }
    }

    fileprivate func write(to writer: inout JSONWriter) {
        switch self {
        case .null: writer.put(plain: "null")
        case .bool(true): writer.put(plain: "true")
        case .bool(false): writer.put(plain: "false")
        case .integer(let value): writer.put(plain: value.description)
        case .real(let value):
            // Swift's description is the shortest form, and always valid JSON: "1.0", "-0.0",
            // "5e-324", "1e+308".
            writer.put(plain: value.isFinite ? value.description : "null")
        case .string(let value): JSON.write(value, to: &writer)
        case .array(let elements):
            writer.put(UInt8(ascii: "["))
            for position in elements.indices {
                if position > 0 { writer.put(UInt8(ascii: ",")) }
                elements[position].write(to: &writer)
            }
            writer.put(UInt8(ascii: "]"))
        case .object(let object): object.write(to: &writer)
        }
    }

    fileprivate static func write(_ text: String, to writer: inout JSONWriter) {
        text.lendBytes { bytes in
            // Handles most strings as a whole. The loop below handles longer or escaped ones in
            // pieces.
            if bytes.count <= pieceSize, !hasEscapes(bytes) { return writer.put(quoted: bytes) }
            writer.put(UInt8(ascii: "\""))
            var start = 0
            while start < bytes.count {
                let end = min(start + pieceSize, bytes.count)
                let piece = UnsafeBufferPointer(rebasing: bytes[start..<end])
                if hasEscapes(piece) { writeEscaped(piece, to: &writer) } else { writer.put(piece) }
                start = end
            }
            writer.put(UInt8(ascii: "\""))
        }
    }

    fileprivate static func encodedCount(_ text: String) -> Int {
        text.lendBytes { bytes in
            guard hasEscapes(bytes) else { return bytes.count + 2 }
            return bytes.reduce(2) { count, byte in
                switch byte {
                case 0x08, 0x09, 0x0A, 0x0C, 0x0D, UInt8(ascii: "\""), UInt8(ascii: "\\"): count + 2
                case 0x00..<0x20: count + 6
                default: count + 1
                }
            }
        }
    }

    /// The number of bytes that are checked for escapes before they are copied. Most pieces need no
    /// escapes.
    private static let pieceSize = 1024

    /// No early exit, so that the compiler can vectorize the loop.
    private static func hasEscapes(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var found: UInt8 = 0
        for byte in bytes {
            found |= (byte < 0x20 ? 1 : 0) | (byte == UInt8(ascii: "\"") ? 1 : 0) | (byte == UInt8(ascii: "\\") ? 1 : 0)
        }
        return found != 0
    }

    private static func writeEscaped(_ bytes: UnsafeBufferPointer<UInt8>, to writer: inout JSONWriter) {
        var start = 0
        for (position, byte) in bytes.enumerated() {
            guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { continue }
            writer.put(UnsafeBufferPointer(rebasing: bytes[start..<position]))
            writeEscape(of: byte, to: &writer)
            start = position + 1
        }
        writer.put(UnsafeBufferPointer(rebasing: bytes[start...]))
    }

    private static func writeEscape(of byte: UInt8, to writer: inout JSONWriter) {
        writer.put(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: writer.put(UInt8(ascii: "b"))
        case 0x09: writer.put(UInt8(ascii: "t"))
        case 0x0A: writer.put(UInt8(ascii: "n"))
        case 0x0C: writer.put(UInt8(ascii: "f"))
        case 0x0D: writer.put(UInt8(ascii: "r"))
        case 0x00..<0x20:
            writer.put(plain: byte < 0x10 ? "u000" : "u001")
            writer.put(hexDigit(byte & 0x0F))
        default: writer.put(byte)
        }
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}

extension JSONObject {
    /// Returns the compact encoding of the object; see `JSON.encoded()`.
    package func encoded() -> [UInt8] {
        JSON.object(self).encoded()
    }

    /// The number of bytes that ``encoded()`` returns.
    package var encodedCount: Int {
        var total = 2 + Swift.max(0, count - 1)
        // This loop and the one in `write(to:)` use indices because an iterator returns copies.
        for position in members.indices {
            total += JSON.encodedCount(members[position].key) + 1 + members[position].value.encodedCount
        }
        return total
    }

    /// Appends the compact encoding; see `JSON.encode(into:)`.
    package func encode(into output: inout [UInt8]) {
        JSON.object(self).encode(into: &output)
    }

    fileprivate func write(to writer: inout JSONWriter) {
        writer.put(UInt8(ascii: "{"))
        for position in members.indices {
            if position > 0 { writer.put(UInt8(ascii: ",")) }
            JSON.write(members[position].key, to: &writer)
            writer.put(UInt8(ascii: ":"))
            members[position].value.write(to: &writer)
        }
        writer.put(UInt8(ascii: "}"))
    }
}
