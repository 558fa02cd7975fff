/// Finds checkouts, upwards from a document and downwards from the folders that the user named.
enum CheckoutSearch {
    /// Levels below a named folder in which checkouts are looked for: `~/src/host/owner/name`, and one more.
    static let depth = 4
    /// Folders that are looked at in one search, so that a mistaken setting costs bounded time.
    static let maxFolders = 20_000

    /// The checkout that a document is in: the nearest one, unless that is a part of a bigger one.
    /// - Parameters:
    ///   - path: the document, without links.
    ///   - folder: the folder, without links, beyond which nothing is looked at.
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

    /// All checkouts below folders, in the order of their paths. Links are not followed, hidden folders and what is inside of
    /// checkouts not looked at.
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
