extension JSON {
    /// The compact text, with every number in its shortest form that reads back as the same number.
    ///
    /// A real always has a fraction or an exponent, so that it stays a real; NaN and the infinities, which JSON lacks
    /// and the parser never makes, become `null`.
    package func encoded() -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(1024)
        encode(into: &output)
        return output
    }

    /// How many bytes ``encoded()`` has.
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

    /// Appends the compact text to bytes that may already hold something, such as a frame's header.
    package func encode(into output: inout [UInt8]) {
        switch self {
        case .null: output.append(contentsOf: "null".utf8)
        case .bool(true): output.append(contentsOf: "true".utf8)
        case .bool(false): output.append(contentsOf: "false".utf8)
        case .integer(let value): output.append(contentsOf: value.description.utf8)
        case .real(let value):
            // Swift's description is the shortest form, and always valid JSON: "1.0", "-0.0", "5e-324", "1e+308".
            output.append(contentsOf: (value.isFinite ? value.description : "null").utf8)
        case .string(let value): JSON.encode(value, into: &output)
        case .array(let elements):
            output.append(UInt8(ascii: "["))
            var isFirst = true
            for element in elements {
                if !isFirst { output.append(UInt8(ascii: ",")) }
                isFirst = false
                element.encode(into: &output)
            }
            output.append(UInt8(ascii: "]"))
        case .object(let object): object.encode(into: &output)
        }
    }

    fileprivate static func encode(_ text: String, into output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let piece = UnsafeBufferPointer(rebasing: rest.prefix(pieceSize))
                if hasEscapes(piece) { appendEscaped(piece, to: &output) } else { output.append(contentsOf: piece) }
                rest = rest.dropFirst(pieceSize)
            }
        }
        output.append(UInt8(ascii: "\""))
    }

    fileprivate static func encodedCount(_ text: String) -> Int {
        var text = text
        return text.withUTF8 { bytes in
            guard hasEscapes(UnsafeBufferPointer(rebasing: bytes[...])) else { return bytes.count + 2 }
            return bytes.reduce(2) { count, byte in
                switch byte {
                case 0x08, 0x09, 0x0A, 0x0C, 0x0D, UInt8(ascii: "\""), UInt8(ascii: "\\"): count + 2
                case 0x00..<0x20: count + 6
                default: count + 1
                }
            }
        }
    }

    /// How much of a text is looked at before it is copied: most pieces of it have nothing to escape.
    private static let pieceSize = 1024

    /// No early exit, so that the compiler can look at many bytes at once.
    private static func hasEscapes(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var found: UInt8 = 0
        for byte in bytes {
            found |= (byte < 0x20 ? 1 : 0) | (byte == UInt8(ascii: "\"") ? 1 : 0) | (byte == UInt8(ascii: "\\") ? 1 : 0)
        }
        return found != 0
    }

    private static func appendEscaped(_ bytes: UnsafeBufferPointer<UInt8>, to output: inout [UInt8]) {
        var start = 0
        for (position, byte) in bytes.enumerated() {
            guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { continue }
            output.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[start..<position]))
            appendEscape(of: byte, to: &output)
            start = position + 1
        }
        output.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[start...]))
    }

    private static func appendEscape(of byte: UInt8, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: output.append(UInt8(ascii: "b"))
        case 0x09: output.append(UInt8(ascii: "t"))
        case 0x0A: output.append(UInt8(ascii: "n"))
        case 0x0C: output.append(UInt8(ascii: "f"))
        case 0x0D: output.append(UInt8(ascii: "r"))
        case 0x00..<0x20:
            output.append(contentsOf: byte < 0x10 ? "u000".utf8 : "u001".utf8)
            output.append(hexDigit(byte & 0x0F))
        default: output.append(byte)
        }
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}

extension JSONObject {
    /// The compact text of the object; see `JSON.encoded()`.
    package func encoded() -> [UInt8] {
        JSON.object(self).encoded()
    }

    /// How many bytes ``encoded()`` has.
    package var encodedCount: Int {
        reduce(2 + Swift.max(0, count - 1)) { $0 + JSON.encodedCount($1.key) + 1 + $1.value.encodedCount }
    }

    /// Appends the compact text; see `JSON.encode(into:)`.
    package func encode(into output: inout [UInt8]) {
        output.append(UInt8(ascii: "{"))
        var isFirst = true
        for (key, value) in self {
            if !isFirst { output.append(UInt8(ascii: ",")) }
            isFirst = false
            JSON.encode(key, into: &output)
            output.append(UInt8(ascii: ":"))
            value.encode(into: &output)
        }
        output.append(UInt8(ascii: "}"))
    }
}
