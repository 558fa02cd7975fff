/// The rules for web addresses from other devices that may be opened in a browser.
package enum WebURL {
    /// A reason for rejecting an address.
    package enum Problem: Error, Equatable, Sendable, CustomStringConvertible {
        /// It is longer than `Limits.webpageURL`.
        case tooLong
        /// It has no scheme, or one other than http and https.
        case scheme
        /// It contains a space, a backslash (which browsers read as a slash), or a control or
        /// invisible character.
        case characters
        /// It contains a user name, or a percent sign that could hide one.
        case credentials
        /// Its host or its port is missing or invalid.
        case host
        /// Its host is this machine, a machine on the local network, or not on the Internet.
        case local

        package var description: String {
            switch self {
            case .tooLong: "it has more than \(Limits.webpageURL) bytes"
            case .scheme: "it does not start with http:// or https://"
            case .characters: "it contains a space, a backslash or an invisible character"
            case .credentials: "it contains a user name or password before the host, or a percent sign in the host"
            case .host: "it has no valid host or port"
            case .local: "its host is a local name or address, which refers to a different machine on another network"
            }
        }
    }

    /// Returns whether this is an absolute http or https URL of at most 2 KiB that has a host that
    /// is not local, has no credentials, and contains no control or invisible characters, spaces or
    /// backslashes.
    package static func isAcceptable(_ text: String) -> Bool { problem(of: text) == nil }

    /// Returns the reason for rejecting an address, or nil if it is acceptable.
    package static func problem(of text: String) -> Problem? {
        guard text.utf8.count <= Limits.webpageURL else { return .tooLong }
        guard let authority = authority(of: text) else { return .scheme }
        let isClean = text.unicodeScalars.allSatisfy { scalar in
            !scalar.properties.isWhitespace && scalar != "\\" && !VisibleText.isHidden(scalar)
        }
        guard isClean else { return .characters }
        // A percent sign could hide an "@" from this check and reveal it to a later one.
        guard !authority.contains(UInt8(ascii: "@")), !authority.contains(UInt8(ascii: "%")) else {
            return .credentials
        }
        guard hasHostAndPort(authority) else { return .host }
        return LocalHost.contains(host(of: authority)) ? .local : nil
    }

    /// Returns the host and port for display before or after an address is opened, or nil if the
    /// address is not acceptable.
    package static func shownHost(of text: String) -> String? {
        guard isAcceptable(text), let authority = authority(of: text) else { return nil }
        return String(Substring(authority)).lowercased()
    }

    /// Returns the host of an authority, without the port.
    private static func host(of authority: Substring.UTF8View.SubSequence) -> Substring {
        guard let end = authority.firstIndex(of: UInt8(ascii: "]")) else {
            return Substring(authority.prefix { $0 != UInt8(ascii: ":") })
        }
        return Substring(authority[...end])
    }

    /// Returns the bytes between `//` and the path, or nil if the scheme is neither http nor https.
    private static func authority(of text: String) -> Substring.UTF8View.SubSequence? {
        let bytes = text.utf8[...]
        for scheme in ["https://", "http://"] {
            let start = bytes.prefix(scheme.utf8.count)
            guard start.map(lowercased).elementsEqual(scheme.utf8) else { continue }
            let ends: [UInt8] = [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")]
            return bytes.dropFirst(scheme.utf8.count).prefix { !ends.contains($0) }
        }
        return nil
    }

    private static func hasHostAndPort(_ authority: Substring.UTF8View.SubSequence) -> Bool {
        let rest: Substring.UTF8View.SubSequence
        if authority.first == UInt8(ascii: "[") {
            guard let end = authority.firstIndex(of: UInt8(ascii: "]")) else { return false }
            let address = authority[..<end].dropFirst()
            let isAddress = address.allSatisfy { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") || isHexDigit($0) }
            guard !address.isEmpty, isAddress else { return false }
            rest = authority[end...].dropFirst()
        } else {
            let host = authority.prefix { $0 != UInt8(ascii: ":") }
            guard !host.isEmpty, !host.contains(UInt8(ascii: "[")), !host.contains(UInt8(ascii: "]")) else {
                return false
            }
            rest = authority[host.endIndex...]
        }
        guard let colon = rest.first else { return true }
        let port = rest.dropFirst()
        guard colon == UInt8(ascii: ":"), let text = String(Substring(port)) as String? else { return false }
        return port.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            && (port.isEmpty || UInt16(text) != nil)
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"): true
        default: false
        }
    }
}

extension StringProtocol {
    /// True if the text contains `://`. `contains("://")` would link the regular expression engine
    /// into handoffd.
    package var hasSchemeSeparator: Bool { utf8.indices.contains { utf8[$0...].starts(with: "://".utf8) } }
}
