internal import HandoffProtocol

/// Several statements in one frame or file: each a u16 length, then that many bytes, with nothing
/// before or after.
///
/// Unknown kinds are errors. The protocol version is negotiated first, and a device that skipped
/// statements would see a different account from the others.
package enum StatementList {
    /// Number of bytes that precede each statement.
    static let overhead = 2

    /// Encodes the list.
    package static func encode(_ statements: some Sequence<Statement>) -> [UInt8] {
        var writer = ByteWriter()
        for statement in statements {
            writer.u16(UInt16(clamping: statement.encodedCount))
            writer.raw(statement.canonical)
            writer.raw(statement.signature)
        }
        return writer.bytes
    }

    /// Decodes a whole list without checking signatures.
    ///
    /// Allocates in proportion to `bytes`, whose length the caller must limit.
    package static func decode(_ bytes: [UInt8]) throws(StatementError) -> [Statement] {
        var reader = ByteReader(bytes)
        var statements: [Statement] = []
        while reader.remaining > 0 {
            let next: [UInt8]
            do throws(ByteError) {
                next = try reader.bytes(Int(try reader.u16()))
            } catch {
                throw .layout
            }
            statements.append(try Statement(decoding: next))
        }
        return statements
    }
}
