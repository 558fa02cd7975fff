import CQREncode

/// The square of dark and light modules that a camera reads a text from.
package struct QRCode: Sendable, Equatable {
    /// Modules along each side.
    package let size: Int
    /// Whether each module is dark, row by row from the top left.
    private let modules: [Bool]

    /// Encodes the bytes of a text as they are, at the lowest level of error correction: a screen has no scratches, and
    /// fewer modules are larger ones (QRcode_encodeData(3)).
    /// - Returns: nil for an empty text, and for one that no code can hold (above 2,953 bytes).
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard let count = Int32(exactly: bytes.count), count > 0,
            let code = QRcode_encodeData(count, bytes, 0, QR_ECLEVEL_L)
        else { return nil }
        defer { QRcode_free(code) }
        let width = Int(code.pointee.width)
        guard width > 0, let data = code.pointee.data else { return nil }
        size = width
        // The lowest bit is the colour; the others tell what the module is for.
        modules = UnsafeBufferPointer(start: data, count: width * width).map { $0 & 1 == 1 }
    }

    /// Whether the module in this row and column is dark; around the code everything is light.
    package func isDark(row: Int, column: Int) -> Bool {
        let inside = 0..<size
        guard inside.contains(row), inside.contains(column) else { return false }
        return modules[row * size + column]
    }
}
