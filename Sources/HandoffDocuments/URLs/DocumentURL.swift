import HandoffModel

/// The location of a document in a form that is valid on all devices of the account. It replaces a
/// `file:` URL when an activity is sent. docs/control-protocol.md describes the format.
package struct DocumentURL: Hashable, Sendable {
    /// The starting point of a document's path.
    package enum Place: Hashable, Sendable {
        /// A folder that has this name on each device.
        case root(String)
        /// A checkout of this repository.
        case repository(RepositoryIdentity)
        /// Not a shared location: the path is only the file's name.
        case nowhere
    }

    static let prefix = "handoff-document:"
    /// The maximum bytes of a URL's text.
    static let maxByteCount = 16_384
    /// The limits of Linux: components of a path, bytes of one component, and bytes of all of them.
    private static let maxComponents = 256
    private static let maxComponent = 255
    private static let maxPath = 4095
    /// The highest number of a document of an activity.
    static let maxFetch = 999_999

    /// The starting point of the path.
    package let place: Place
    /// The path below the starting point. Each component is a valid file name. `nowhere` has
    /// exactly one.
    package let components: [String]
    /// True if the URL denotes a folder.
    package let isFolder: Bool
    /// The number by which the document can be fetched over a stream of its activity; nil if it
    /// cannot.
    package var fetch: Int?
    /// The part of the URL after `#`.
    package let fragment: String?

    /// Returns nil if a component is not a file name, refers to another folder or is too long, or
    /// if the fragment is invalid.
    package init?(
        _ place: Place, _ components: [String], isFolder: Bool = false, fetch: Int? = nil, fragment: String? = nil
    ) {
        guard components.count <= Self.maxComponents, components.allSatisfy(Self.isName),
            components.reduce(0, { $0 + $1.utf8.count + 1 }) <= Self.maxPath,
            (0...Self.maxFetch).contains(fetch ?? 0)
        else { return nil }
        switch place {
        case .root(let name): guard SharedRoots.isName(name) else { return nil }
        // Git's own files are not documents.
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

    /// Returns a URL for a document outside all shared locations.
    /// - Parameter name: the document's name; replaced by `document` if it is not a valid file
    ///   name.
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
    /// Returns true if the text has the scheme of these URLs.
    package static func isDocumentURL(_ text: String) -> Bool {
        text.prefix(prefix.count).lowercased() == prefix
    }

    /// Parses a URL. Returns nil for another scheme or an invalid form.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.maxByteCount, Self.isDocumentURL(text) else { return nil }
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

    /// The URL as sent to other devices.
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

    /// The name of the document, or of the starting point if the path is empty.
    package var name: String {
        if let last = components.last { return last }
        switch place {
        case .root(let name): return name
        case .repository(let identity): return identity.text.split(separator: "/").last.map(String.init) ?? "checkout"
        case .nowhere: return "document"
        }
    }

    /// The reason why this device does not have the document, and the solution: the end of an error
    /// message, safe to display.
    package var absence: String {
        let name = VisibleText.escape(name)
        return switch place {
        case .root(let root):
            "\(name) is in the shared folder '\(root)', which this device does not have: add 'root = \(root) FOLDER' to "
                + "documents.conf"
        case .repository(let identity):
            "\(name) is in a checkout of \(identity), which this device does not have: clone it below a folder "
                + "listed as 'checkouts' in documents.conf"
        case .nowhere: "\(name) is not available: the other device could not read it"
        }
    }
}
