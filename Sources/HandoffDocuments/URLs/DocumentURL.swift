/// Where a document is, in words that mean the same on all devices of the account: the URL that travels in the place of a
/// `file:` URL. The form is described in docs/control-protocol.md.
package struct DocumentURL: Hashable, Sendable {
    /// What the path of the document begins at.
    package enum Place: Hashable, Sendable {
        /// A folder that has this name on each device that has it.
        case root(String)
        /// A checkout of this repository.
        case repository(RepositoryIdentity)
        /// Nothing that another device could have: the path is the name alone.
        case nowhere
    }

    /// The scheme, with its colon.
    package static let prefix = "handoff-document:"
    /// The longest text that is read, in bytes.
    package static let maxByteCount = 16_384
    /// Components of a path, and bytes of one and of all of them: what Linux takes.
    private static let maxComponents = 256
    private static let maxComponent = 255
    private static let maxPath = 4095
    /// The greatest number of a document of an activity.
    package static let maxFetch = 999_999

    /// What the path begins at.
    package let place: Place
    /// The path below it; each component is a name that a file can have. Of `nowhere` exactly one.
    package let components: [String]
    /// Whether the URL says that it is a folder.
    package let isFolder: Bool
    /// The number by which the document can be fetched over a stream of its activity; nil when it cannot.
    package var fetch: Int?
    /// What follows a `#` in the URL.
    package let fragment: String?

    /// Nil when a component is no name of a file, leads to another folder, or is too long, and for a fragment that no URL has.
    package init?(
        _ place: Place, _ components: [String], isFolder: Bool = false, fetch: Int? = nil, fragment: String? = nil
    ) {
        guard components.count <= Self.maxComponents, components.allSatisfy(Self.isName),
            components.reduce(0, { $0 + $1.utf8.count + 1 }) <= Self.maxPath,
            (0...Self.maxFetch).contains(fetch ?? 0)
        else { return nil }
        switch place {
        case .root(let name): guard SharedRoots.isName(name) else { return nil }
        // What git keeps for itself is no document.
        case .repository: guard !components.contains(where: { $0.lowercased() == ".git" }) else { return nil }
        case .nowhere: guard components.count == 1 else { return nil }
        }
        if let fragment { guard fragment.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil } }
        self.place = place
        self.components = components
        self.isFolder = isFolder
        self.fetch = fetch
        self.fragment = fragment
    }

    /// A document that no other device can have by itself.
    /// - Parameter name: its own name; what no file can be called becomes `document`.
    package static func nowhere(_ name: String, isFolder: Bool, fragment: String?) -> DocumentURL {
        let kept = isName(name) ? name : "document"
        let whole = DocumentURL(.nowhere, [kept], isFolder: isFolder, fragment: fragment)
        return whole ?? DocumentURL(checked: kept, isFolder: isFolder)
    }

    private init(checked name: String, isFolder: Bool) {
        place = .nowhere
        components = [name]
        self.isFolder = isFolder
        fragment = nil
    }

    private static func isName(_ text: String) -> Bool {
        (1...maxComponent).contains(text.utf8.count) && text != "." && text != ".."
            && !text.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: "/") })
    }
}

// MARK: - The text

extension DocumentURL {
    /// Reads the text of a URL; nil for one of another scheme or form.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.maxByteCount, text.prefix(Self.prefix.count).lowercased() == Self.prefix
        else { return nil }
        var rest = text.dropFirst(Self.prefix.count)
        var fragment: String?
        if let place = rest.firstIndex(of: "#") {
            fragment = String(rest[rest.index(after: place)...])
            rest = rest[..<place]
        }
        var fetch: Int?
        if let place = rest.firstIndex(of: "?") {
            for item in rest[rest.index(after: place)...].split(separator: "&") where item.hasPrefix("fetch=") {
                let digits = item.dropFirst("fetch=".count)
                guard digits.utf8.count <= 6, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                    let number = Int(digits)
                else { return nil }
                fetch = number
            }
            rest = rest[..<place]
        }
        var parts = rest.split(separator: "/", omittingEmptySubsequences: false)[...]
        guard let kind = parts.popFirst() else { return nil }
        let place: Place
        switch kind {
        case "root":
            guard let name = parts.popFirst().flatMap(PercentText.decode) else { return nil }
            place = .root(name)
        case "git":
            guard
                let identity = parts.popFirst().flatMap(PercentText.decode).flatMap(
                    RepositoryIdentity.init(normalized:))
            else { return nil }
            place = .repository(identity)
        case "name": place = .nowhere
        default: return nil
        }
        let isFolder = parts.last?.isEmpty ?? false
        if isFolder { parts.removeLast() }
        var components: [String] = []
        for part in parts {
            guard let component = PercentText.decode(part) else { return nil }
            components.append(component)
        }
        self.init(place, components, isFolder: isFolder, fetch: fetch, fragment: fragment)
    }

    /// The URL as it travels.
    package var text: String {
        var text = Self.prefix
        switch place {
        case .root(let name): text += "root/" + PercentText.encode(name)
        case .repository(let identity): text += "git/" + PercentText.encode(identity.text)
        case .nowhere: text += "name"
        }
        for component in components { text += "/" + PercentText.encode(component) }
        if isFolder { text += "/" }
        if let fetch { text += "?fetch=\(fetch)" }
        if let fragment { text += "#" + fragment }
        return text
    }

    /// The document's own name; that of the root for a root itself.
    package var name: String {
        if let last = components.last { return last }
        switch place {
        case .root(let name): return name
        case .repository(let identity): return identity.text.split(separator: "/").last.map(String.init) ?? "checkout"
        case .nowhere: return "document"
        }
    }
}
