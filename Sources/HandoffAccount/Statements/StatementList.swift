internal import HandoffProtocol

/// Several statements in one frame or file: each a u16 length, then that many bytes; nothing before or after.
///
/// Unknown kinds are errors: the version of the protocol is agreed on before, and a device that skipped statements would
/// see another account than the others.
package enum StatementList {
    /// Bytes that precede each statement.
    static let overhead = 2

    /// The list as bytes.
    package static func encode(_ statements: some Sequence<Statement>) -> [UInt8] {
        var writer = ByteWriter()
        for statement in statements {
            writer.u16(UInt16(clamping: statement.encodedCount))
            writer.raw(statement.canonical)
            writer.raw(statement.signature)
        }
        return writer.bytes
    }

    /// Reads a list to its end; signatures are not checked here.
    ///
    /// Allocates in proportion to `bytes`, whose length the caller has limited.
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
