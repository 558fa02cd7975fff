import HandoffJSON

/// The folders of this device that other devices also have, identified by name or as checkouts of a
/// repository. Methods access the file system and block while it does.
package struct SharedRoots: Equatable, Sendable {
    /// A folder that has the same name on all devices.
    package struct Folder: Equatable, Sendable {
        package let name: String
        /// The absolute local path, without a trailing slash.
        package let path: String

        /// Returns nil for an invalid name or path.
        package init?(name: String, path: String) {
            guard SharedRoots.isName(name), let path = SharedRoots.cleaned(path) else { return nil }
            self.name = name
            self.path = path
        }
    }

    /// The maximum number of folders of each kind.
    package static let maxFolders = 256
    /// The maximum bytes of a name.
    private static let maxName = 64

    /// The named folders. Names are unique.
    package private(set) var folders: [Folder] = []
    /// The folders to search for checkouts. Paths are absolute and unique.
    package private(set) var checkouts: [String] = []

    package init() {}

    /// Returns true for a valid name: 1 to 64 ASCII letters, digits, `.`, `_` and `-`, not starting
    /// with a dot or a dash.
    static func isName(_ text: String) -> Bool {
        guard (1...maxName).contains(text.utf8.count), !text.hasPrefix("."), !text.hasPrefix("-") else {
            return false
        }
        return text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || "._-".utf8.contains(byte)
        }
    }

    /// Adds a folder, or replaces the one with the same name.
    /// - Returns: false if there are too many.
    @discardableResult
    package mutating func add(_ folder: Folder) -> Bool {
        if let place = folders.firstIndex(where: { $0.name == folder.name }) {
            folders[place] = folder
            return true
        }
        guard folders.count < Self.maxFolders else { return false }
        folders.append(folder)
        return true
    }

    /// Adds a folder to search for checkouts.
    /// - Returns: false if there are too many, or the path is not absolute.
    @discardableResult
    package mutating func addCheckouts(_ path: String) -> Bool {
        guard let path = Self.cleaned(path), checkouts.count < Self.maxFolders else { return false }
        if !checkouts.contains(where: path.hasSameBytes) { checkouts.append(path) }
        return true
    }

    /// Adds the folders of a source with precedence. They replace folders with the same names.
    package mutating func merge(_ stronger: SharedRoots) {
        for folder in stronger.folders { add(folder) }
        for path in stronger.checkouts { addCheckouts(path) }
    }

    /// Returns an absolute path without trailing slashes, or nil if the path is not absolute.
    private static func cleaned(_ path: String) -> String? {
        guard path.hasPrefix("/"), !path.utf8.contains(0), path.utf8.count <= 4095 else { return nil }
        var path = path[...]
        while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
        return String(path)
    }
}

// MARK: - To other devices

extension SharedRoots {
    /// Returns the URL that denotes a file on other devices, relative to the most specific shared
    /// folder that contains it, or nil if there is none. Links are resolved first, so a link out of
    /// a folder is outside.
    package func url(of file: FileURL) -> DocumentURL? {
        guard let path = file.path, let real = FileTree.real(path) else { return nil }
        var best: (folder: String, url: DocumentURL)?
        func consider(_ place: DocumentURL.Place, _ folder: String) {
            guard best.map({ $0.folder.utf8.count < folder.utf8.count }) ?? true,
                let components = FileTree.components(of: real, below: folder),
                let url = DocumentURL(place, components, isFolder: file.isFolder, fragment: file.fragment)
            else { return }
            best = (folder, url)
        }
        for root in folders { if let folder = FileTree.real(root.path) { consider(.root(root.name), folder) } }
        for path in checkouts {
            guard let folder = FileTree.real(path), FileTree.components(of: real, below: folder) != nil,
                let checkout = CheckoutSearch.checkout(of: real, below: folder), let identity = checkout.identity
            else { continue }
            consider(.repository(identity), checkout.path)
        }
        return best?.url
    }
}

// MARK: - From other devices

extension SharedRoots {
    /// The reason why a document of another device has no local path.
    package enum Missing: Error, Hashable, Sendable {
        /// No folder has this name.
        case noRoot(String)
        /// The folder with this name does not currently exist.
        case rootUnavailable(String, path: String)
        /// No checkout of this repository was found.
        case noCheckout(RepositoryIdentity)
        /// The path leaves the folder through a link.
        case outsideRoot
        /// The document is not in a shared folder.
        case nowhere
    }

    /// Returns the local path of a document, whether or not it exists. The path is never outside
    /// its folder.
    /// - Parameter found: a cache of checkouts, so that several documents need only one search;
    ///   initially nil.
    package func path(of document: DocumentURL, found: inout [GitCheckout]?) throws(Missing) -> String {
        switch document.place {
        case .nowhere: throw .nowhere
        case .root(let name):
            guard let root = folders.first(where: { $0.name == name }) else { throw .noRoot(name) }
            guard FileTree.kind(of: root.path) == .folder else { throw .rootUnavailable(name, path: root.path) }
            return try Self.path(of: document.components, in: root.path)
        case .repository(let identity):
            let all = found ?? CheckoutSearch.checkouts(below: checkouts)
            found = all
            let candidates = all.filter { $0.identity == identity }
            guard !candidates.isEmpty else { throw .noCheckout(identity) }
            var first: String?
            for checkout in candidates {
                let path = try Self.path(of: document.components, in: checkout.path)
                // Of several checkouts, use the first that contains the document.
                if FileTree.kind(of: path) != nil { return path }
                first = first ?? path
            }
            return first ?? ""
        }
    }

    /// Returns the reasons why documents have no local path, each once.
    package func missing(for documents: [DocumentURL]) -> [Missing] {
        var found: [GitCheckout]?
        var missing: [Missing] = []
        for document in documents {
            do throws(Missing) {
                _ = try path(of: document, found: &found)
            } catch {
                if !missing.contains(error) { missing.append(error) }
            }
        }
        return missing
    }

    private static func path(of components: [String], in folder: String) throws(Missing) -> String {
        let path = components.isEmpty ? folder : (folder == "/" ? "" : folder) + "/" + components.joined(separator: "/")
        guard let real = FileTree.real(path), let root = FileTree.real(folder),
            FileTree.components(of: real, below: root) != nil
        else { throw .outsideRoot }
        return path
    }
}
