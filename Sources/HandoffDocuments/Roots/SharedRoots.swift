/// The folders of this device that other devices have, too: by a name, or as checkouts of a repository. A plain value; its
/// methods ask the file system, and block for as long as that does.
package struct SharedRoots: Equatable, Sendable {
    /// A folder that has one name on all devices.
    package struct Folder: Equatable, Sendable {
        /// The name.
        package let name: String
        /// The path here: absolute, without a slash at the end.
        package let path: String

        /// Nil for a name or a path of a wrong form.
        package init?(name: String, path: String) {
            guard SharedRoots.isName(name), let path = SharedRoots.cleaned(path) else { return nil }
            self.name = name
            self.path = path
        }
    }

    /// Folders of each kind that are used; more are no setting of a person.
    package static let most = 256
    /// Bytes of a name.
    private static let maxName = 64

    /// The folders with a name, each name once.
    package private(set) var folders: [Folder] = []
    /// The folders in which checkouts are looked for: absolute, each once.
    package private(set) var checkouts: [String] = []

    /// No folders.
    package init() {}

    /// Whether a folder can have this name: 1 to 64 letters, digits, and `.`, `_`, `-` of ASCII, not beginning with a dot or a
    /// dash.
    package static func isName(_ text: String) -> Bool {
        guard (1...maxName).contains(text.utf8.count), !text.hasPrefix("."), !text.hasPrefix("-") else {
            return false
        }
        return text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || "._-".utf8.contains(byte)
        }
    }

    /// Adds a folder; one of the same name is replaced.
    /// - Returns: false when there are too many.
    @discardableResult
    package mutating func add(_ folder: Folder) -> Bool {
        if let place = folders.firstIndex(where: { $0.name == folder.name }) {
            folders[place] = folder
            return true
        }
        guard folders.count < Self.most else { return false }
        folders.append(folder)
        return true
    }

    /// Adds a folder with checkouts.
    /// - Returns: false when there are too many, or the path is not absolute.
    @discardableResult
    package mutating func addCheckouts(_ path: String) -> Bool {
        guard let path = Self.cleaned(path), checkouts.count < Self.most else { return false }
        if !checkouts.contains(path) { checkouts.append(path) }
        return true
    }

    /// Takes the folders of a stronger source: its names win.
    package mutating func merge(_ stronger: SharedRoots) {
        for folder in stronger.folders { add(folder) }
        for path in stronger.checkouts { addCheckouts(path) }
    }

    /// An absolute path without slashes at its end; nil for another one.
    private static func cleaned(_ path: String) -> String? {
        guard path.hasPrefix("/"), !path.utf8.contains(0), path.utf8.count <= 4095 else { return nil }
        var path = path[...]
        while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
        return String(path)
    }
}

// MARK: - From here to other devices

extension SharedRoots {
    /// The URL by which other devices know a file, of the most specific folder that it is in; nil when it is in none. A link that
    /// leads out of a folder is not in it.
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

// MARK: - From other devices to here

extension SharedRoots {
    /// Why a document of another device has no path here.
    package enum Missing: Error, Hashable, Sendable {
        /// There is no folder of this name.
        case noRoot(String)
        /// The folder of this name does not exist now.
        case rootIsGone(String, path: String)
        /// No checkout of this repository was found.
        case noCheckout(RepositoryIdentity)
        /// The path leads out of the folder, over a link.
        case leadsOut
        /// It is in no folder that devices share.
        case nowhere
    }

    /// The path of a document here, whether it exists or not: never outside of its folder.
    /// - Parameter found: checkouts that were found before, so that several documents take one search; nil before the first.
    package func path(of document: DocumentURL, found: inout [GitCheckout]?) throws(Missing) -> String {
        switch document.place {
        case .nowhere: throw .nowhere
        case .root(let name):
            guard let root = folders.first(where: { $0.name == name }) else { throw .noRoot(name) }
            guard FileTree.kind(of: root.path) == .folder else { throw .rootIsGone(name, path: root.path) }
            return try Self.path(of: document.components, in: root.path)
        case .repository(let identity):
            let all = found ?? CheckoutSearch.checkouts(below: checkouts)
            found = all
            let candidates = all.filter { $0.identity == identity }
            guard !candidates.isEmpty else { throw .noCheckout(identity) }
            var first: String?
            for checkout in candidates {
                let path = try Self.path(of: document.components, in: checkout.path)
                // Of several checkouts the first that has the document.
                if FileTree.kind(of: path) != nil { return path }
                first = first ?? path
            }
            return first ?? ""
        }
    }

    private static func path(of components: [String], in folder: String) throws(Missing) -> String {
        let path = components.isEmpty ? folder : (folder == "/" ? "" : folder) + "/" + components.joined(separator: "/")
        guard let real = FileTree.real(path), let root = FileTree.real(folder),
            FileTree.components(of: real, below: root) != nil
        else { throw .leadsOut }
        return path
    }
}
