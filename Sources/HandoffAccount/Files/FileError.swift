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
        case .passphraseUnfit: "needs a passphrase of 1 to \(PassphraseSeal.longestPassphrase) bytes"
        case .underivable(let reason): "cannot be protected or opened now: \(reason)"
        case .wrongLength(let expected, let actual): "has \(actual) bytes instead of \(expected)"
        case .damaged: "is damaged (its checksum is wrong)"
        case .invalid(let reason): "is not valid: \(reason)"
        }
    }
}
