import HandoffModel

/// The identity of a repository: the host and path of its remote, such as
/// `example.org/notes/letters`. All forms of an address give the same identity. It contains no user
/// names, passwords or tokens.
package struct RepositoryIdentity: Hashable, Sendable, CustomStringConvertible {
    /// The maximum bytes of an identity.
    static let maxByteCount = 512

    /// The host in lower case, a port other than the default, and the path without `.git`.
    package let text: String

    package var description: String { text }

    /// Creates the identity of a remote: `https://host/path.git`, `ssh://user@host:port/path`,
    /// `user@host:path`, and other forms that Git accepts. Returns nil without a host, because a
    /// path is meaningless on another device; with a query, which may be a secret; and for anything
    /// else that does not look like an address.
    package init?(remote: String) {
        guard remote.utf8.count <= 4096, remote.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        guard !remote.utf8.contains(where: { "\\?#\"<>^`{|}".utf8.contains($0) }) else { return nil }
        let found = remote.hasSchemeSeparator ? Self.url(remote) : Self.shortForm(remote)
        guard let (authority, port, path) = found, let host = Self.host(authority),
            let path = Self.path(path)
        else { return nil }
        let text = host + (port.map { ":\($0)" } ?? "") + "/" + path
        guard text.utf8.count <= Self.maxByteCount else { return nil }
        self.text = text
    }

    /// Returns nil unless the text is already in the form of `text`.
    package init?(normalized text: String) {
        guard let identity = RepositoryIdentity(remote: "https://" + text), identity.text == text else { return nil }
        self = identity
    }

    /// The default port of each scheme. Other ports are part of the identity, because they may
    /// serve other repositories.
    private static let ports: [String: Int] = [
        "https": 443, "http": 80, "ssh": 22, "git": 9418, "git+ssh": 22, "ssh+git": 22, "git+https": 443,
        "git+http": 80,
    ]

    private typealias Parts = (host: Substring, port: Int?, path: Substring)

    private static func url(_ remote: String) -> Parts? {
        guard let colon = remote.firstIndex(of: ":") else { return nil }
        guard let usual = ports[remote[..<colon].lowercased()] else { return nil }
        let rest = remote[colon...].dropFirst(3)
        let authority = rest.prefix { $0 != "/" }
        var host = withoutUser(authority)
        var port: Int?
        if let end = host.lastIndex(of: ":"), !host[end...].contains("]") {
            let digits = host[host.index(after: end)...]
            if !digits.isEmpty {
                guard digits.utf8.count <= 5, let number = Int(digits), (1...65535).contains(number),
                    digits.utf8.allSatisfy({ (0x30...0x39).contains($0) })
                else { return nil }
                port = number == usual ? nil : number
            }
            host = host[..<end]
        }
        return (host, port, rest.dropFirst(authority.count))
    }

    /// Parses `user@host:path`, which has a colon before the first slash.
    private static func shortForm(_ remote: String) -> Parts? {
        guard let colon = remote.firstIndex(of: ":"), !remote[..<colon].contains("/") else { return nil }
        let host = withoutUser(remote[..<colon])
        guard !host.contains("[") else { return nil }
        return (host, nil, remote[remote.index(after: colon)...])
    }

    private static func withoutUser(_ authority: Substring) -> Substring {
        authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
    }

    private static func host(_ text: Substring) -> String? {
        var host = text.lowercased()
        if host.hasPrefix("["), host.hasSuffix("]") {
            let inner = host.dropFirst().dropLast()
            guard !inner.isEmpty, inner.utf8.allSatisfy({ "0123456789abcdef:.".utf8.contains($0) }) else { return nil }
            return host
        }
        while host.hasSuffix(".") { host.removeLast() }
        let isHost = host.utf8.allSatisfy { byte in
            (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || "-._".utf8.contains(byte)
        }
        guard isHost, !host.isEmpty, host.utf8.count <= 253, !host.hasPrefix("-"), !host.hasPrefix(".") else {
            return nil
        }
        return host
    }

    private static func path(_ text: Substring) -> String? {
        var components: [String] = []
        for part in text.split(separator: "/") {
            // Normalises each character so that different spellings are equal, and rejects `@` and
            // `:`, so that a misplaced credential is never sent.
            guard let decoded = PercentText.decode(part), decoded != ".", decoded != "..",
                !decoded.utf8.contains(where: { $0 < 0x21 || $0 == 0x7F || "@/:".utf8.contains($0) })
            else { return nil }
            components.append(PercentText.encode(decoded))
        }
        guard var last = components.popLast() else { return nil }
        // Removes repeated suffixes, so that parsing the result yields the same identity.
        while last.hasSuffix(".git") { last.removeLast(4) }
        guard !last.isEmpty, last != ".", last != ".." else { return nil }
        return (components + [last]).joined(separator: "/")
    }
}
