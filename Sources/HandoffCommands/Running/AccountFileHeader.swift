/// The beginning of an account file, as far as a client reads it: the rest is for the daemon.
enum AccountFileHeader {
    private static let magic = Array("hndf-exp".utf8)
    /// Where the form stands, two bytes big-endian: after the magic and the version.
    private static let formOffset = 10
    /// The form of a file that is protected by a passphrase.
    private static let protected: [UInt8] = [0, 1]

    /// Whether a passphrase is needed. Not for what is no account file, which the daemon refuses.
    static func isProtected(_ file: [UInt8]) -> Bool {
        file.starts(with: magic) && Array(file.dropFirst(formOffset).prefix(2)) == protected
    }
}
