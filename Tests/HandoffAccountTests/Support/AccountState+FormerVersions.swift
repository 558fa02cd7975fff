import HandoffAccount
import HandoffCrypto

/// Account files as former versions of the program wrote them.
extension AccountState {
    /// The file of version 1 or 2 of an account without unfinished devices: each version has added a part at the end.
    func encoded(version: UInt16) -> SecretBytes {
        let nameCount = 1 + (configuredName ?? "").utf8.count
        let unfinishedCount = 2
        let recordsCount = SHA256.byteCount * exports.count
        let added = nameCount + recordsCount + (version == 1 ? unfinishedCount : 0)
        return Self.file(
            version: version, content: encoded().exposedCopy()[16...].dropLast(SHA256.byteCount + added))
    }

    /// An account file around any content.
    static func file(version: UInt16, content: ArraySlice<UInt8>) -> SecretBytes {
        var file = Array("hndf-acc".utf8) + [UInt8(version >> 8), UInt8(truncatingIfNeeded: version), 0, 0]
        file += withUnsafeBytes(of: UInt32(content.count).bigEndian) { Array($0) }
        file += content
        file += SHA256.hash(file)
        return SecretBytes(copying: file)
    }
}
