/// The beginning of an account file, as far as a client reads it: the rest is for the daemon.
enum AccountFileHeader {
    private static let magic = Array("hndf-exp".utf8)
    /// Where the form stands, two bytes big-endian: after the magic and the version.
    private static let formOffset = 10
    /// The form of a file that is protected by a passphrase.
    private static let protected: [UInt8] = [0, 1]

    /// Where the length of the content stands, four bytes big-endian.
    private static let lengthOffset = 12
    /// Bytes before the content, and of the checksum behind it.
    private static let around = 16 + 32

    /// Whether this is a whole account file: a daemon that ends while it sends one leaves a part of it.
    static func isWhole(_ file: [UInt8]) -> Bool {
        guard file.starts(with: magic), file.count >= around else { return false }
        let length = file.dropFirst(lengthOffset).prefix(4).reduce(0) { $0 << 8 | Int($1) }
        return file.count - around == length
    }

    /// Whether a passphrase is needed. Not for what is no account file, which the daemon refuses.
    static func isProtected(_ file: [UInt8]) -> Bool {
        file.starts(with: magic) && Array(file.dropFirst(formOffset).prefix(2)) == protected
    }
}
