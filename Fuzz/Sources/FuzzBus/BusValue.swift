import FuzzSupport

/// Writes values in D-Bus's wire format (D-Bus Specification, "Marshaling"), little-endian, as an input selects them.
struct BusValue {
    /// The written bytes. A body starts at a multiple of 8.
    private(set) var bytes: [UInt8] = []

    /// The limit of nested containers that are still filled. sd-bus allows 64 of each kind.
    private static let maxDepth = 80
    /// The size limit of one value. Real messages are far smaller, but a client has to handle this.
    private static let maxBytes = 1 << 20

    /// Texts with a meaning to their readers, which would not occur by chance.
    private static let words = [
        "user", "greeter", "x11", "wayland", "active", "closing", "Class", "Type", "State", "LockedHint", "IdleHint",
        "IdleSinceHint", "c1", "/org/freedesktop/login1/session/c1", "/", "org.freedesktop.Notifications",
        "org.freedesktop.login1", ":1.1", ":1.7", "", "actions", "body-markup", "default", "success", "exit-code",
        "failed", "inactive", "a\u{202E}b", "laptop",
    ]

    mutating func byte(_ byte: UInt8) {
        bytes.append(byte)
    }

    mutating func align(_ size: Int) {
        bytes += [UInt8](repeating: 0, count: (size - bytes.count % size) % size)
    }

    mutating func number<Number: FixedWidthInteger>(_ number: Number) {
        align(MemoryLayout<Number>.size)
        withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
    }

    mutating func text(_ text: some Collection<UInt8>) {
        number(UInt32(text.count))
        bytes += text
        bytes.append(0)
    }

    mutating func signature(_ text: some Collection<UInt8>) {
        bytes.append(UInt8(truncatingIfNeeded: text.count))
        bytes += text
        bytes.append(0)
    }

    /// The written bytes, then these bytes, then zeros up to a multiple of 8.
    func padded(_ more: [UInt8]) -> [UInt8] {
        var whole = self
        whole.bytes += more
        whole.align(8)
        return whole.bytes
    }

    /// Writes values of all types of a signature. Of an invalid one, as many as can be recognised.
    mutating func values(_ signature: [UInt8], from input: inout Input) {
        var left = signature[...]
        while let type = Self.type(at: left) {
            value(type, from: &input, depth: 0)
            left = left.dropFirst(type.count)
        }
    }

    private mutating func value(_ type: ArraySlice<UInt8>, from input: inout Input, depth: Int) {
        guard depth < Self.maxDepth, bytes.count < Self.maxBytes, let first = type.first else { return }
        switch UnicodeScalar(first) {
        case "y": bytes.append(input.byte())
        case "n", "q": number(UInt16(input.byte()) << 8 | UInt16(input.byte()))
        case "b": number(UInt32(input.byte() % 4))
        case "u", "i", "h": number(Self.number(&input))
        case "x", "t", "d": number(UInt64(Self.number(&input)) << 32 | UInt64(Self.number(&input)))
        case "s", "o": text(Self.text(&input))
        case "g": signature(BusSignature.chosen(&input))
        case "v":
            let inner = BusSignature.chosen(&input)
            signature(inner)
            if let type = Self.type(at: inner[...]) { value(type, from: &input, depth: depth + 1) }
        case "a": array(of: type.dropFirst(), from: &input, depth: depth)
        default:
            align(8)
            var left = type.dropFirst().dropLast()
            while let part = Self.type(at: left) {
                value(part, from: &input, depth: depth + 1)
                left = left.dropFirst(part.count)
            }
        }
    }

    private mutating func array(of element: ArraySlice<UInt8>, from input: inout Input, depth: Int) {
        number(UInt32(0))
        let place = bytes.count - 4
        // The length does not include the padding between it and the first element.
        if let first = element.first, "xtd({".utf8.contains(first) { align(8) }
        let start = bytes.count
        let choice = Int(input.byte())
        for _ in 0..<(choice < 0xF0 ? choice % 8 : (choice - 0xEF) * 100) where bytes.count < Self.maxBytes {
            value(element, from: &input, depth: depth + 1)
        }
        let count = UInt32(bytes.count - start)
        withUnsafeBytes(of: count.littleEndian) { bytes.replaceSubrange(place..<place + 4, with: $0) }
    }

    /// Returns the first type of a signature, or nil at its end, and if it is invalid.
    private static func type(at signature: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        var depth = 0
        for (position, letter) in signature.enumerated() {
            switch UnicodeScalar(letter) {
            case "a": continue
            case "(", "{": depth += 1
            case ")", "}": depth -= 1
            default: break
            }
            if depth < 0 { return nil }
            if depth == 0 { return signature.prefix(position + 1) }
        }
        return nil
    }

    private static func number(_ input: inout Input) -> UInt32 {
        let choice = input.byte()
        switch choice {
        case 0xFF: return .max
        case 0xFE: return input.bytes(4).reduce(0) { $0 << 8 | UInt32($1) }
        default: return UInt32(choice)
        }
    }

    /// Writes a text: mostly one of the known ones, or any bytes, or a long one.
    static func text(_ input: inout Input) -> [UInt8] {
        let choice = Int(input.byte())
        switch choice {
        case ..<0xC0: return Array(words[choice % words.count].utf8)
        case ..<0xF0: return input.bytes(choice - 0xC0)
        default: return [UInt8](repeating: UInt8(ascii: "x"), count: 1 << (choice - 0xEF))
        }
    }
}

/// The signature that a message states for its values.
enum BusSignature {
    /// The expected ones, and similar ones.
    private static let known = [
        "", "s", "u", "b", "t", "o", "h", "v", "i", "y", "as", "us", "uu", "sss", "a{sv}", "a(susso)", "a(so)", "av",
        "so", "sa{sv}as", "aas", "(s)", "a(sus)", "vv", "uuu", "a{ss}", "ss", "d",
    ]

    static func chosen(_ input: inout Input) -> [UInt8] {
        let choice = Int(input.byte())
        switch choice {
        case ..<0xE0: return Array(known[choice % known.count].utf8)
        case ..<0xF0: return input.bytes(choice - 0xE0)
        // As deep as a signature can be, and deeper.
        default: return [UInt8](repeating: UInt8(ascii: "a"), count: (choice - 0xEF) * 8) + [UInt8(ascii: "s")]
        }
    }
}
