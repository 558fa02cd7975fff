/// A parsed `file:` URL (RFC 8089).
package struct FileURL: Hashable, Sendable {
    /// The absolute path, decoded but not normalised. Nil if the URL does not denote a file on this
    /// machine: it has a host, is relative, or contains invalid bytes.
    package let path: String?
    /// The last component of the path, even if `path` is nil; empty for the root folder.
    let name: String
    /// True if the URL ends with a slash, as those of folders do.
    let isFolder: Bool
    /// The part after `#`, unchanged.
    let fragment: String?

    /// Creates the URL of an absolute path. Returns nil for a relative one.
    package init?(path: String, isFolder: Bool) {
        guard let text = Self.text(path: path, isFolder: isFolder) else { return nil }
        self.init(text)
    }

    /// Returns the text of the URL of an absolute path. Returns nil for a relative one.
    package static func text(path: String, isFolder: Bool) -> String? {
        guard path.utf8.first == UInt8(ascii: "/") else { return nil }
        let components = path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
        return "file:///" + components.map(PercentText.encode).joined(separator: "/") + (isFolder ? "/" : "")
    }

    /// Parses a URL. Returns nil for another scheme.
    package init?(_ text: String) {
        // Compares bytes, because a combining mark after the colon would form one character with
        // it.
        guard String(decoding: text.utf8.prefix(5), as: UTF8.self).lowercased() == "file:" else { return nil }
        var rest = Substring(text.utf8.dropFirst(5))
        if let place = rest.firstIndex(of: "#") {
            fragment = String(rest[rest.index(after: place)...])
            rest = rest[..<place]
        } else {
            fragment = nil
        }
        if let place = rest.firstIndex(of: "?") { rest = rest[..<place] }
        var isLocal = true
        if rest.hasPrefix("//") {
            let authority = rest.dropFirst(2).prefix { $0 != "/" }
            isLocal = authority.isEmpty || authority.lowercased() == "localhost"
            rest = rest.dropFirst(2 + authority.count)
        }
        isFolder = rest.hasSuffix("/")
        let components = rest.split(separator: "/").map { PercentText.decode($0) }
        name = components.last.flatMap(\.self) ?? ""
        let isUsable =
            isLocal && rest.hasPrefix("/")
            && components.allSatisfy { component in
                component.map { !$0.utf8.contains(0) && !$0.utf8.contains(UInt8(ascii: "/")) } ?? false
            }
        path = isUsable ? "/" + components.compactMap(\.self).joined(separator: "/") : nil
    }
}
