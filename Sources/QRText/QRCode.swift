import CQREncode

/// A QR code: a square of dark and light modules that encodes a text.
package struct QRCode: Sendable, Equatable {
    /// The number of modules along each side.
    package let size: Int
    /// True for each dark module, row by row from the top left.
    private let modules: [Bool]

    /// Encodes the bytes of a text at the lowest level of error correction. Screens have no
    /// scratches, and fewer modules are larger ones (QRcode_encodeData(3)).
    /// - Returns: nil for an empty text, and for one that exceeds the capacity of a code (2,953
    ///   bytes).
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard let count = Int32(exactly: bytes.count), count > 0,
            let code = QRcode_encodeData(count, bytes, 0, QR_ECLEVEL_L)
        else { return nil }
        defer { QRcode_free(code) }
        let width = Int(code.pointee.width)
        guard width > 0, let data = code.pointee.data else { return nil }
        size = width
        // The lowest bit is the colour. The others describe the purpose of the module.
        modules = UnsafeBufferPointer(start: data, count: width * width).map { $0 & 1 == 1 }
    }

    /// Returns true if the module is dark. Positions outside the code are light.
    package func isDark(row: Int, column: Int) -> Bool {
        let inside = 0..<size
        guard inside.contains(row), inside.contains(column) else { return false }
        return modules[row * size + column]
    }
}
