/// Finds checkouts, upwards from a document and downwards from configured folders.
enum CheckoutSearch {
    /// The search depth below a configured folder: enough for `~/src/host/owner/name`, and one more
    /// level.
    static let depth = 4
    /// The maximum number of folders visited in one search, so that a wrong setting has a bounded
    /// cost.
    static let maxFolders = 20_000

    /// Returns the nearest checkout that contains a document. For a submodule, prefers the
    /// containing checkout.
    /// - Parameters:
    ///   - path: the document, with links resolved.
    ///   - folder: the top folder of the search, with links resolved.
    static func checkout(of path: String, below folder: String) -> GitCheckout? {
        var part: GitCheckout?
        var place = path
        while FileTree.components(of: place, below: folder) != nil {
            if let found = GitCheckout(at: place), found.identity != nil {
                if !found.isPart { return found }
                part = part ?? found
            }
            guard let parent = FileTree.parent(of: place) else { break }
            place = parent
        }
        return part
    }

    /// Returns all checkouts below folders, in path order. Does not follow links, and does not
    /// search hidden folders or inside checkouts.
    static func checkouts(below folders: [String]) -> [GitCheckout] {
        var found: [GitCheckout] = []
        var left = maxFolders
        for folder in folders { search(folder, depth: 0, left: &left, found: &found) }
        return found
    }

    private static func search(_ folder: String, depth: Int, left: inout Int, found: inout [GitCheckout]) {
        guard left > 0 else { return }
        left -= 1
        if let checkout = GitCheckout(at: folder) { return found.append(checkout) }
        guard depth < Self.depth else { return }
        for name in FileTree.folders(in: folder, limit: left) {
            search(folder + "/" + name, depth: depth + 1, left: &left, found: &found)
        }
    }
}
