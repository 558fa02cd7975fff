/// What a `file:` URL says (RFC 8089).
package struct FileURL: Hashable, Sendable {
    /// The absolute path, decoded; not normalised. Nil when the URL names none on this machine: it has a host, is relative, or
    /// holds what no path holds.
    package let path: String?
    /// The last component of the path, also when the path is of no use; empty for the root folder.
    package let name: String
    /// Whether it ends with a slash, as URLs of folders do.
    package let isFolder: Bool
    /// What follows a `#`, as it stands there.
    package let fragment: String?

    /// Reads the text of a URL; nil when its scheme is another one.
    package init?(_ text: String) {
        // By bytes: what follows the colon may be a mark that makes one character with it.
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
