import HandoffProtocol
package import Timing

/// How many codes may be tried wrongly: three within ten minutes, then one every ten minutes.
///
/// Lives as long as the daemon, over all windows and accounts. A code that nobody tries costs nothing; so opening windows
/// cannot use it up, and who guesses at codes has five guesses in ten minutes in the long run.
package struct PairingAttemptLimiter: Sendable, Equatable {
    /// Codes that may be tried at once after a long rest.
    package static let burst = 3
    /// How long it takes until one more may be tried.
    package static let interval = Duration.seconds(600)

    /// When the next code would be due if all so far had come at the full rate; nil before the first.
    private var expected: MonotonicInstant?

    /// Nothing was tried yet.
    package init() {}

    /// Whether a window that opens at `now` has digits.
    package func offersDigits(at now: MonotonicInstant) -> Bool {
        now >= nextDigits
    }

    /// From when on a window has digits again.
    package var nextDigits: MonotonicInstant {
        let ahead = Self.interval * (Self.burst - 1)
        return expected.map { $0 - ahead } ?? MonotonicInstant(nanoseconds: 0)
    }

    /// Notes the first wrong guess at a code; ``PairingWindow`` calls it.
    mutating func codeTried(at now: MonotonicInstant) {
        expected = max(expected ?? now, now) + Self.interval
    }
}

/// Where connections are counted together: an IPv4 address, a link-local IPv6 address, or a /64 of other IPv6 addresses,
/// of which one device has as many as it likes.
package struct PairingSource: Hashable, Sendable {
    private let bytes: [UInt8]

    /// The source of a host of 4 or 16 bytes in network order.
    package init(host: [UInt8]) {
        let isLinkLocal = host.first == 0xFE && host.dropFirst().first.map { $0 & 0xC0 == 0x80 } == true
        bytes = host.count == 16 && !isLinkLocal ? Array(host.prefix(8)) : host
    }
}

/// How a session came in, and so which password is its.
package enum PairingAuthMethod: Sendable, Hashable {
    /// Without a token: it will try the digits.
    case digits
    /// With a valid token of the link.
    case link
}
