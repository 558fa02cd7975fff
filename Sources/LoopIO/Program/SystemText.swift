import Glibc

/// Text that represents bytes of the system: arguments, variables and paths, which need not be
/// UTF-8.
///
/// A byte that is not part of valid UTF-8 is represented by the private-use scalar U+10FE00 plus
/// its value. Bytes that are the UTF-8 of such a scalar are represented in the same way. Every byte
/// sequence therefore has its own text, and converting the text back returns the same bytes.
extension String {
    private static var escapes: ClosedRange<UInt32> { 0x10FE80...0x10FEFF }
    private static var escapeBase: UInt32 { 0x10FE00 }

    /// Creates the text that represents the bytes.
    package init(systemBytes bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        if let text = String(validating: bytes, as: UTF8.self), !text.hasEscapes {
            self = text
            return
        }
        var scalars = String.UnicodeScalarView()
        var start = 0
        while start < bytes.count {
            // Decode one scalar at a time: a sequence is at most four bytes long.
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
                    // A byte below 0x80 is always valid UTF-8.
                    if let scalar = Unicode.Scalar(Self.escapeBase + UInt32(byte)) { scalars.append(scalar) }
                }
                start += found?.0 ?? 1
            }
        }
        self = String(scalars)
    }

    /// Creates the text that represents a C string.
    package init(systemPath path: UnsafePointer<CChar>) {
        self.init(systemBytes: UnsafeBufferPointer(start: path, count: strlen(path)).map { UInt8(bitPattern: $0) })
    }

    /// The bytes that the text represents.
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

    /// The bytes, followed by a NUL, for system calls.
    package var systemPath: [CChar] { systemBytes.nullTerminated }

    /// The text for people and other devices, with U+FFFD in place of invalid UTF-8.
    package var systemTextRepaired: String {
        hasEscapes ? String(decoding: systemBytes, as: UTF8.self) : self
    }

    /// Splits a command-line word into the option and, if present, the value after the first `=`.
    var splitOption: [String] {
        // Split scalars: a combining mark at the start of a value would form one character with
        // "=".
        unicodeScalars.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { String($0) }
    }

    private var hasEscapes: Bool { unicodeScalars.contains { Self.escapes.contains($0.value) } }
}

extension Sequence<UInt8> {
    /// The bytes, followed by a NUL, for system calls.
    package var nullTerminated: [CChar] { map { CChar(bitPattern: $0) } + [0] }
}
