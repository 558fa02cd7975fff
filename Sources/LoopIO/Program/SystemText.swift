import Glibc

/// Text that stands for bytes of the system: arguments, variables and paths, which need not be UTF-8.
///
/// A byte that is no UTF-8 is the scalar U+10FE00 plus its value, of a private area. Bytes that are the UTF-8 of such a scalar are
/// written in the same way, so that every sequence of bytes has a text of its own and comes back from it unchanged.
extension String {
    private static var escapes: ClosedRange<UInt32> { 0x10FE80...0x10FEFF }
    private static var escapeBase: UInt32 { 0x10FE00 }

    /// The text that stands for bytes.
    package init(systemBytes bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        if let text = String(validating: bytes, as: UTF8.self), !text.hasEscapes {
            self = text
            return
        }
        var scalars = String.UnicodeScalarView()
        var start = 0
        while start < bytes.count {
            // One scalar at a time: a sequence is four bytes at most.
            let found = (1...Swift.min(4, bytes.count - start)).lazy.compactMap { count in
                String(validating: bytes[start..<(start + count)], as: UTF8.self)?.unicodeScalars.first.map {
                    (count, $0)
                }
            }.first
            if let (count, scalar) = found, !Self.escapes.contains(scalar.value) {
                scalars.append(scalar)
                start += count
            } else {
                for byte in bytes[start..<(start + (found?.0 ?? 1))] {
                    // A byte below 0x80 is UTF-8 by itself.
                    if let scalar = Unicode.Scalar(Self.escapeBase + UInt32(byte)) { scalars.append(scalar) }
                }
                start += found?.0 ?? 1
            }
        }
        self = String(scalars)
    }

    /// The text that stands for a C string.
    package init(systemPath path: UnsafePointer<CChar>) {
        self.init(systemBytes: UnsafeBufferPointer(start: path, count: strlen(path)).map { UInt8(bitPattern: $0) })
    }

    /// The bytes that the text stands for.
    package var systemBytes: [UInt8] {
        guard hasEscapes else { return Array(utf8) }
        var bytes: [UInt8] = []
        for scalar in unicodeScalars {
            if Self.escapes.contains(scalar.value) {
                bytes.append(UInt8(truncatingIfNeeded: scalar.value))
            } else {
                bytes += Array(String(scalar).utf8)
            }
        }
        return bytes
    }

    /// The bytes for a call of the system, with a NUL behind them.
    package var systemPath: [CChar] { systemBytes.nullTerminated }

    /// The text for people and other devices: U+FFFD for what is no UTF-8.
    package var systemTextRepaired: String {
        hasEscapes ? String(decoding: systemBytes, as: UTF8.self) : self
    }

    /// The option of a word of the command line, and behind the first `=` its value, if it has one.
    package var splitOption: [String] {
        // Of scalars: a value may begin with a mark, which makes one character with the sign.
        unicodeScalars.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { String($0) }
    }

    private var hasEscapes: Bool { unicodeScalars.contains { Self.escapes.contains($0.value) } }
}

extension Sequence<UInt8> {
    /// The bytes for a call of the system, with a NUL behind them.
    package var nullTerminated: [CChar] { map { CChar(bitPattern: $0) } + [0] }
}
