/// Which addresses may be opened in a browser on the word of another device.
package enum WebURL {
    /// Why an address is not accepted.
    package enum Problem: Error, Equatable, Sendable, CustomStringConvertible {
        /// It is longer than `Limits.webpageURL`.
        case tooLong
        /// It has no scheme, or another one.
        case scheme
        /// It holds a space, a backslash (which browsers read as a slash), or a control or invisible character.
        case characters
        /// It holds the name of a user, or a percent sign that could hide one.
        case credentials
        /// Its host or its port is missing or invalid.
        case host
        /// Its host is this machine, one of its network, or none on the Internet.
        case local

        package var description: String {
            switch self {
            case .tooLong: "it has more than \(Limits.webpageURL) bytes"
            case .scheme: "it does not begin with http:// or https://"
            case .characters: "it contains a space, a backslash or an invisible character"
            case .credentials: "it contains a user name or password before the host, or a percent sign in the host"
            case .host: "it has no valid host or port"
            case .local: "its host is a local name or address, which is another machine on another network"
            }
        }
    }

    /// Whether this is an absolute http or https URL with a host and without credentials, at most 2 KiB, that holds
    /// neither control and invisible characters nor spaces nor backslashes, and whose host is not local.
    package static func isAcceptable(_ text: String) -> Bool { problem(of: text) == nil }

    /// Why an address is not accepted; nil when it is.
    package static func problem(of text: String) -> Problem? {
        guard text.utf8.count <= Limits.webpageURL else { return .tooLong }
        guard let authority = authority(of: text) else { return .scheme }
        let isClean = text.unicodeScalars.allSatisfy { scalar in
            !scalar.properties.isWhitespace && scalar != "\\" && !VisibleText.isHidden(scalar)
        }
        guard isClean else { return .characters }
        // A percent sign could hide an "@" from this check and show it to a later one.
        guard !authority.contains(UInt8(ascii: "@")), !authority.contains(UInt8(ascii: "%")) else {
            return .credentials
        }
        guard hasHostAndPort(authority) else { return .host }
        return LocalHost.contains(host(of: authority)) ? .local : nil
    }

    /// The host with its port as they are shown to people before or after an address is opened; nil for what is not acceptable.
    package static func shownHost(of text: String) -> String? {
        guard isAcceptable(text), let authority = authority(of: text) else { return nil }
        return String(Substring(authority)).lowercased()
    }

    /// The host without the port, of an authority that has one.
    private static func host(of authority: Substring.UTF8View.SubSequence) -> Substring {
        guard let end = authority.firstIndex(of: UInt8(ascii: "]")) else {
            return Substring(authority.prefix { $0 != UInt8(ascii: ":") })
        }
        return Substring(authority[...end])
    }

    /// The bytes between `//` and the path, or nil when the scheme is not one of the two.
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
