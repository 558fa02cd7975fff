internal import HandoffAccount
internal import HandoffCrypto
internal import HandoffModel

/// The checksum of a text file of the state folder: a first line with the SHA-256 of all bytes after it.
///
/// The line is a comment for programs that do not know it. A file without one is accepted: an earlier program wrote it, or
/// a person who edited the file has deleted the line.
enum TextSeal {
    private static let prefix = Array("#sha256 ".utf8)
    /// Bytes that the line adds to a file, with its end.
    static let byteCount = prefix.count + 2 * SHA256.byteCount + 1

    /// The file with this content.
    static func sealed(_ content: [UInt8]) -> [UInt8] {
        line(for: content[...]) + content
    }

    /// The content of a file.
    /// - Throws: `FileError.damaged` when the checksum is not that of the content.
    static func content(of file: [UInt8]) throws(FileError) -> [UInt8] {
        guard file.starts(with: prefix) else { return file }
        let content = file.dropFirst(byteCount)
        guard file.prefix(byteCount).elementsEqual(line(for: content)) else { throw .damaged }
        return Array(content)
    }

    private static func line(for content: ArraySlice<UInt8>) -> [UInt8] {
        prefix + Array(Hex.encode(SHA256.hash(content)).utf8) + [UInt8(ascii: "\n")]
    }
}
