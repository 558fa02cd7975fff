/// When another device of the account was last heard, in seconds since 1970: text for people, one number and a line end.
package struct ContactFile: Sendable, Equatable {
    /// Most bytes of a file.
    static let longest = 32

    /// The moment, by this machine's wall clock.
    package var unixSeconds: UInt64

    /// The file of a moment.
    package init(unixSeconds: UInt64) {
        self.unixSeconds = unixSeconds
    }

    /// Reads a file; nil when it says no moment, which costs a hint and nothing else.
    package init?(decoding bytes: [UInt8]) {
        guard bytes.last == UInt8(ascii: "\n"),
            let seconds = String(validating: bytes.dropLast(), as: UTF8.self).flatMap({ UInt64($0) })
        else { return nil }
        unixSeconds = seconds
    }

    /// The file's bytes.
    package func encoded() -> [UInt8] { Array("\(unixSeconds)\n".utf8) }
}
