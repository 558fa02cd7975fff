/// Why the content of a file of ours cannot be used; who opened the file adds its name.
package enum FileError: Error, Equatable, Sendable, CustomStringConvertible {
    /// It does not begin as such a file does.
    case notSuchAFile
    /// A later program wrote it.
    case unknownVersion(UInt16)
    /// It is protected in a way that this program does not know.
    case unknownForm(UInt16)
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
        case .wrongLength(let expected, let actual): "has \(actual) bytes instead of \(expected)"
        case .damaged: "is damaged (its checksum is wrong)"
        case .invalid(let reason): "is not valid: \(reason)"
        }
    }
}
