/// The time when another device of the account was last seen, in seconds since 1970. A text file
/// for people: one number and a newline.
package struct ContactFile: Sendable, Equatable {
    /// Maximum size of a file in bytes.
    static let maxFile = 32

    /// The time by this machine's wall clock.
    package var unixSeconds: UInt64

    /// Creates a file with a time.
    package init(unixSeconds: UInt64) {
        self.unixSeconds = unixSeconds
    }

    /// Decodes a file. Returns nil if it contains no time, which only costs a hint to the user.
    package init?(decoding bytes: [UInt8]) {
        guard bytes.last == UInt8(ascii: "\n"),
            let seconds = String(validating: bytes.dropLast(), as: UTF8.self).flatMap({ UInt64($0) })
        else { return nil }
        unixSeconds = seconds
    }

    /// Encodes the file.
    package func encoded() -> [UInt8] { Array("\(unixSeconds)\n".utf8) }
}
