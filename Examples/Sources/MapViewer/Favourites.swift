import Foundation

/// Which stores the user likes: a small file of the app's own. It is beside Handoff, and in no activity: a user who
/// starts the app without Handoff finds it, too, and whatever keeps folders of several devices equal may carry it.
struct Favourites {
    private let file: URL

    /// Those of this user: `$XDG_DATA_HOME/handoff-examples/favourites`.
    init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        // Foundation's home folder is that of the user database, whatever $HOME says.
        func root(_ name: String) -> URL? {
            environment[name].flatMap { $0.hasPrefix("/") ? URL(fileURLWithPath: $0) : nil }
        }
        let home = root("HOME") ?? FileManager.default.homeDirectoryForCurrentUser
        let folder = root("XDG_DATA_HOME") ?? home.appendingPathComponent(".local/share")
        self.init(file: folder.appendingPathComponent("handoff-examples/favourites"))
    }

    /// Those in a file, which need not be there.
    init(file: URL) {
        self.file = file
    }

    /// The numbers of the stores. Read each time, so that what another program or device writes is seen.
    var numbers: Set<Int> {
        guard let text = try? String(contentsOf: file, encoding: .utf8) else { return [] }
        return Set(text.split(whereSeparator: \.isNewline).compactMap { Int($0) })
    }

    /// Adds a store, or takes it out.
    /// - Returns: whether it is a favourite now.
    /// - Throws: Foundation's error when the file cannot be written.
    func toggle(_ number: Int) throws -> Bool {
        var numbers = numbers
        let isFavourite = numbers.remove(number) == nil
        if isFavourite { numbers.insert(number) }
        let text = numbers.sorted().map { "\($0)\n" }.joined()
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(to: file, atomically: true, encoding: .utf8)
        return isFavourite
    }
}
