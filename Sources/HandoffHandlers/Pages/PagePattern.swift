import HandoffModel

/// A pattern for web pages: `bank.example` is that host, `*.bank.example` all hosts below it, on
/// any port unless one is given. A path matches every address whose path starts with it. The scheme
/// is ignored.
struct PagePattern: Sendable, Equatable {
    /// The reason why a text is not a pattern: a sentence fragment for display.
    struct Failure: Error {
        let reason: String

        init(_ reason: String) {
            self.reason = reason
        }
    }

    private let host: String
    /// True if the pattern matches the hosts below, but not the host itself.
    private let isBelow: Bool
    private let port: UInt16?
    private let path: String

    init(_ text: Substring) throws(Failure) {
        guard let parts = PageAddress.Parts(text, needsScheme: false) else {
            throw Failure("'\(text)' is not a site or the address of a page")
        }
        isBelow = parts.host.hasPrefix("*.")
        guard let host = HostName.ascii(parts.host.dropFirst(isBelow ? 2 : 0)) else {
            throw Failure("'\(parts.host)' is not a host name")
        }
        self.host = host
        port = parts.port
        path = parts.path
    }

    func matches(_ page: PageAddress) -> Bool {
        guard isBelow ? page.host.hasSuffix("." + host) : page.host == host else { return false }
        guard port == nil || port == page.port else { return false }
        // Also compares scalars, because a mark after the prefix changes its last character.
        return page.path.hasPrefix(path) || page.path.unicodeScalars.starts(with: path.unicodeScalars)
    }
}

/// An address in the form that patterns are compared with.
struct PageAddress: Sendable {
    let host: String
    let port: UInt16
    let path: String

    /// - Returns: Nil for an address whose host cannot be compared: an IPv6 address or an invalid
    ///   name.
    init?(_ url: String) {
        guard let parts = Parts(url[...], needsScheme: true), let host = HostName.ascii(parts.host) else { return nil }
        self.host = host
        port = parts.port ?? (parts.isSecure ? 443 : 80)
        path = parts.path
    }

    /// The parts of an address.
    struct Parts {
        let isSecure: Bool
        let host: Substring
        let port: UInt16?
        /// The path, query and fragment, decoded and in lower case, so that all spellings of an
        /// address are equal.
        let path: String

        init?(_ text: Substring, needsScheme: Bool) {
            var rest = text
            let scheme = ["https://", "http://"].first { text.lowercased().hasPrefix($0) }
            guard scheme != nil || !needsScheme && !text.hasSchemeSeparator else { return nil }
            isSecure = scheme == "https://"
            rest = rest.dropFirst(scheme?.count ?? 0)
            let authority = rest.prefix { !"/?#".contains($0) }
            guard !authority.isEmpty, !authority.contains(where: { "@%[]\\".contains($0) }) else { return nil }
            let name = authority.prefix { $0 != ":" }
            let digits = authority.dropFirst(name.count + 1)
            if digits.isEmpty {
                port = nil
            } else {
                guard digits.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }),
                    let number = UInt16(digits)
                else { return nil }
                port = number
            }
            host = name
            let tail = rest.dropFirst(authority.count)
            path = Self.decoded(tail.hasPrefix("/") ? tail[...] : "/" + tail)
        }

        private static func decoded(_ text: Substring) -> String {
            var bytes: [UInt8] = []
            var rest = text.utf8[...]
            while let byte = rest.popFirst() {
                if byte == UInt8(ascii: "%"), rest.count >= 2,
                    let code = UInt8(String(Substring(rest.prefix(2))), radix: 16)
                {
                    bytes.append(code)
                    rest = rest.dropFirst(2)
                } else {
                    bytes.append(byte)
                }
            }
            return String(decoding: bytes, as: UTF8.self).lowercased()
        }
    }
}
