internal import HandoffAccount
internal import HandoffCrypto
internal import HandoffModel

/// The checksum of a text file of the state folder: a first line with the SHA-256 of all bytes
/// after it.
///
/// Programs that do not know the line see a comment. A file without it is accepted: an earlier
/// version wrote the file, or a user who edited it deleted the line.
enum TextSeal {
    private static let prefix = Array("#sha256 ".utf8)
    /// Number of bytes that the line adds to a file, including its newline.
    static let byteCount = prefix.count + 2 * SHA256.byteCount + 1

    /// Adds the checksum line to `content`.
    static func sealed(_ content: [UInt8]) -> [UInt8] {
        line(for: content[...]) + content
    }

    /// Checks the checksum and returns the content of a file.
    /// - Throws: `FileError.damaged` when the checksum does not match the content.
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
