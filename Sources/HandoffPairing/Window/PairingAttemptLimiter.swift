package import HandoffModel
import HandoffProtocol

/// The limit on codes that receive a wrong guess: three within ten minutes, then one every ten
/// minutes.
///
/// Lives as long as the daemon, across all windows and accounts. A code without guesses costs
/// nothing, so opening windows cannot exhaust the limit. In the long run an attacker has five
/// guesses in ten minutes.
package struct PairingAttemptLimiter: Sendable, Equatable {
    /// Number of codes that can be tried in succession after a long pause.
    static let burst = 3
    /// The time after which one more code can be tried.
    static let interval = Duration.seconds(600)

    /// When the next code would be due if all codes so far had been tried at the full rate; nil
    /// before the first.
    private var expected: MonotonicInstant?

    /// Creates a limiter without attempts.
    package init() {}

    /// Returns whether a window that opens at `now` has digits.
    package func offersDigits(at now: MonotonicInstant) -> Bool {
        now >= nextDigits
    }

    /// The time from which a window has digits again.
    package var nextDigits: MonotonicInstant {
        let ahead = Self.interval * (Self.burst - 1)
        return expected.map { $0 - ahead } ?? MonotonicInstant(nanoseconds: 0)
    }

    /// Records the first wrong guess at a code. Called by ``PairingWindow``.
    mutating func recordAttempt(at now: MonotonicInstant) {
        expected = max(expected ?? now, now) + Self.interval
    }
}

/// A source whose connections are counted together: an IPv4 address, a link-local IPv6 address, or
/// a /64 of other IPv6 addresses, which one device can use freely.
package struct PairingSource: Hashable, Sendable {
    private let bytes: [UInt8]

    /// Creates the source of a host address of 4 or 16 bytes in network order.
    package init(host: [UInt8]) {
        let isLinkLocal = host.first == 0xFE && host.dropFirst().first.map { $0 & 0xC0 == 0x80 } == true
        bytes = host.count == 16 && !isLinkLocal ? Array(host.prefix(8)) : host
    }
}

/// The authentication method of a session, which determines its password.
package enum PairingAuthMethod: Sendable, Hashable {
    /// Without a token: the session uses the digits.
    case digits
    /// With a valid token of the link.
    case link
}
