internal import HandoffCrypto
internal import HandoffProtocol

/// What all binary files of this program have around their content, so that a damaged or half-written one is noticed.
///
/// Magic 8 bytes, version u16, form u16, length of the content u32; the content; SHA-256 of all before it. Integers are
/// big-endian. A file is one ``SecretBytes``, as most of them hold keys.
package struct FileFormat: Sendable {
    /// The first 8 bytes, ASCII.
    package let magic: String
    /// The version that this program writes, and the only one that it reads.
    package let version: UInt16
    /// Most bytes of content.
    package let maxContent: Int

    private init(magic: String, version: UInt16, maxContent: Int) {
        self.magic = magic
        self.version = version
        self.maxContent = maxContent
    }

    /// Seed of the device key.
    package static let identity = FileFormat(magic: "hndf-key", version: 1, maxContent: 64)
    /// Counter of starts.
    package static let boot = FileFormat(magic: "hndf-bot", version: 1, maxContent: 64)
    /// Account with its keys. The roster may pass its limit of bytes by what lets a removal fit.
    package static let account = FileFormat(magic: "hndf-acc", version: 5, maxContent: 32 * 1024 * 1024)
    /// Exported account.
    package static let export = FileFormat(magic: "hndf-exp", version: 1, maxContent: 32 * 1024 * 1024)

    static let headerCount = 16
    static let trailerCount = SHA256.byteCount

    /// Most bytes of a file, so that a reader can refuse a longer one before it reads.
    package var maxFile: Int {
        Self.headerCount + maxContent + Self.trailerCount
    }

    /// The file whose content is `parts` in order; `form` tells how the content is protected, 0 for not at all.
    func file(_ parts: [SecretBytes], form: UInt16 = 0) -> SecretBytes {
        let header = header(form: form, length: parts.reduce(0) { $0 + $1.count })
        let body = SecretBytes.concatenated([SecretBytes(copying: header)] + parts)
        return SecretBytes.concatenated([body, SecretBytes(copying: SHA256.hash(body))])
    }

    /// The first bytes of a file with `length` bytes of content.
    func header(form: UInt16, length: Int) -> [UInt8] {
        var header = ByteWriter(capacity: Self.headerCount)
        header.text(magic)
        header.u16(version)
        header.u16(form)
        header.u32(UInt32(clamping: length))
        return header.bytes
    }

    /// A reader of the content of `file`, once header, length and checksum are found right, and that it is in the clear.
    func content(of file: SecretBytes) throws(FileError) -> SecretReader {
        let (form, reader) = try contentInAnyForm(of: file)
        guard form == 0 else { throw .unknownForm(form) }
        return reader
    }

    /// How the content of `file` is protected, and a reader of it as it stands in the file, once header, length and
    /// checksum are found right.
    func contentInAnyForm(of file: SecretBytes) throws(FileError) -> (form: UInt16, content: SecretReader) {
        var header = SecretReader(file)
        guard file.count >= Self.headerCount, try header.plain(8) == Array(magic.utf8) else { throw .notSuchAFile }
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
            // Safe: the hasher keeps no pointer, and `end` is inside, as the length was compared just above.
            unsafe hasher.update(UnsafeRawBufferPointer(rebasing: buffer[..<end]))
            return hasher.digest()
        }
        var trailer = SecretReader(file, from: end, to: file.count)
        guard ConstantTime.equal(digest, try trailer.plain(Self.trailerCount)) else { throw .damaged }
        // Only now: a flipped bit in a good file is damage, not a form.
        return (form, SecretReader(file, from: Self.headerCount, to: end))
    }
}

/// Why the content of a file of ours cannot be used; who opened the file adds its name.
package enum FileError: Error, Equatable, Sendable, CustomStringConvertible {
    /// It does not begin as such a file does.
    case notSuchAFile
    /// A later program wrote it.
    case unknownVersion(UInt16)
    /// It is protected in a way that this program does not know.
    case unknownForm(UInt16)
    /// A passphrase protects it, and none was given.
    case passphraseMissing
    /// A passphrase protects it, and another one was given; or it was changed by somebody who knows how to.
    case passphraseWrong
    /// A passphrase was given, and the file is in the clear: it is not the one that was meant.
    case notProtected
    /// The passphrase is empty, or longer than 1,024 bytes.
    case passphraseUnfit
    /// The key could not be derived from the passphrase, for one as there is not enough memory.
    case underivable(String)
    /// It ends too early, or goes on too long.
    case wrongLength(expected: Int, actual: Int)
    /// Its checksum is wrong.
    case damaged
    /// Its checksum is right, but it says something impossible.
    case invalid(String)

    package var description: String {
        switch self {
        case .notSuchAFile: "is not such a file"
        case .unknownVersion(let version): "has version \(version), which this program does not know"
        case .unknownForm(let form): "has form \(form), which this program does not know"
        case .passphraseMissing: "is protected by a passphrase, which is needed"
        case .passphraseWrong: "cannot be opened with this passphrase"
        case .notProtected: "is not protected by a passphrase, though one was given"
        case .passphraseUnfit: "needs a passphrase of 1 to \(PassphraseSeal.maxPassphrase) bytes"
        case .underivable(let reason): "cannot be protected or opened now: \(reason)"
        case .wrongLength(let expected, let actual): "has \(actual) bytes instead of \(expected)"
        case .damaged: "is damaged (its checksum is wrong)"
        case .invalid(let reason): "is not valid: \(reason)"
        }
    }
}
