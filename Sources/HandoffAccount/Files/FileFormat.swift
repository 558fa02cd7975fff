internal import HandoffCrypto
internal import HandoffProtocol

/// The common frame of this program's binary files. It detects damaged and partly written files.
///
/// Magic 8 bytes, version u16, form u16, length of the content u32; the content; SHA-256 of all
/// preceding bytes. Integers are big-endian. A file is one ``SecretBytes``, because most files hold
/// keys.
package struct FileFormat: Sendable {
    /// The first 8 bytes, ASCII.
    package let magic: String
    /// The version that this program writes. It reads no other version.
    package let version: UInt16
    /// Maximum size of the content in bytes.
    let maxContent: Int

    /// The seed of the device key.
    package static let identity = FileFormat(magic: "hndf-key", version: 1, maxContent: 64)
    /// The generation number.
    package static let boot = FileFormat(magic: "hndf-bot", version: 1, maxContent: 64)
    /// The account with its keys. A roster at its byte limit can exceed it so that a removal still
    /// fits.
    package static let account = FileFormat(magic: "hndf-acc", version: 5, maxContent: 32 * 1024 * 1024)
    /// An exported account.
    package static let export = FileFormat(magic: "hndf-exp", version: 1, maxContent: 32 * 1024 * 1024)

    static let headerCount = 16
    static let trailerCount = SHA256.byteCount

    /// Maximum size of a file in bytes, so that a reader can reject a longer file before reading
    /// it.
    package var maxFile: Int {
        Self.headerCount + maxContent + Self.trailerCount
    }

    /// The file with `parts` as its content, in order. `form` states how the content is protected;
    /// 0 means unprotected.
    func file(_ parts: [SecretBytes], form: UInt16 = 0) -> SecretBytes {
        let header = header(form: form, length: parts.reduce(0) { $0 + $1.count })
        let body = SecretBytes.concatenated([SecretBytes(copying: header)] + parts)
        return SecretBytes.concatenated([body, SecretBytes(copying: SHA256.hash(body))])
    }

    /// The header of a file with `length` bytes of content.
    func header(form: UInt16, length: Int) -> [UInt8] {
        var header = ByteWriter(capacity: Self.headerCount)
        header.text(magic)
        header.u16(version)
        header.u16(form)
        header.u32(UInt32(clamping: length))
        return header.bytes
    }

    /// Checks header, length and checksum of an unprotected `file` and returns a reader of its
    /// content.
    func content(of file: SecretBytes) throws(FileError) -> SecretReader {
        let (form, reader) = try contentInAnyForm(of: file)
        guard form == 0 else { throw .unknownForm(form) }
        return reader
    }

    /// Checks header, length and checksum of `file`. Returns its form and a reader of the content
    /// as stored.
    func contentInAnyForm(of file: SecretBytes) throws(FileError) -> (form: UInt16, content: SecretReader) {
        var header = SecretReader(file)
        guard file.count >= Self.headerCount, try header.plain(8) == Array(magic.utf8) else { throw .wrongMagic }
        let found = try header.u16()
        guard found == version else { throw .unknownVersion(found) }
        let form = try header.u16()
        let length = Int(try header.u32())
        let expected = Self.headerCount + length + Self.trailerCount
        guard length <= maxContent, file.count == expected else {
            throw .wrongLength(expected: expected, actual: file.count)
        }
        let end = Self.headerCount + length
        let digest = unsafe file.withUnsafeBytes { buffer in
            let hasher = SHA256Hasher()
            // Safe: the hasher keeps no pointer, and `end` is in bounds because the length was
            // checked above.
            unsafe hasher.update(UnsafeRawBufferPointer(rebasing: buffer[..<end]))
            return hasher.digest()
        }
        var trailer = SecretReader(file, from: end, to: file.count)
        guard ConstantTime.equal(digest, try trailer.plain(Self.trailerCount)) else { throw .damaged }
        // Returned only after the checksum: a flipped bit in a valid file is damage, not another
        // form.
        return (form, SecretReader(file, from: Self.headerCount, to: end))
    }
}

/// Why the content of one of this program's files is unusable. The caller adds the file name.
package enum FileError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The magic bytes are wrong.
    case wrongMagic
    /// A later version of the program wrote it.
    case unknownVersion(UInt16)
    /// It has an unknown kind of protection.
    case unknownForm(UInt16)
    /// The file needs a passphrase and none was given.
    case passphraseMissing
    /// The passphrase does not open the file, or the file was modified and its checksum recomputed.
    case passphraseWrong
    /// A passphrase was given for an unprotected file, so it is probably not the intended file.
    case notProtected
    /// The passphrase is empty or longer than 1,024 bytes.
    case invalidPassphraseLength
    /// Key derivation from the passphrase failed, for example for lack of memory.
    case keyDerivationFailed(String)
    /// The file is truncated or too long.
    case wrongLength(expected: Int, actual: Int)
    /// The checksum is wrong.
    case damaged
    /// The checksum is right, but the content is invalid.
    case invalid(String)

    package var description: String {
        switch self {
        case .wrongMagic: "is not a file of this kind"
        case .unknownVersion(let version): "has version \(version), which this program does not know"
        case .unknownForm(let form): "has form \(form), which this program does not know"
        case .passphraseMissing: "is protected by a passphrase; enter the passphrase"
        case .passphraseWrong: "cannot be opened with this passphrase"
        case .notProtected: "is not protected by a passphrase, but one was given"
        case .invalidPassphraseLength: "needs a passphrase of 1 to \(PassphraseSeal.maxPassphrase) bytes"
        case .keyDerivationFailed(let reason): "cannot be encrypted or decrypted now: \(reason)"
        case .wrongLength(let expected, let actual): "has \(actual) bytes instead of \(expected)"
        case .damaged: "is damaged (its checksum is wrong)"
        case .invalid(let reason): "is not valid: \(reason)"
        }
    }
}
