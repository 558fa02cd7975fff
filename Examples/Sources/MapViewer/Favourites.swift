import Foundation

/// The user's favourite stores, in a small file of the app. They are independent of Handoff and in
/// no activity. They also work without Handoff, and a program that syncs folders can sync them.
struct Favourites {
    private let file: URL

    /// Creates the favourites of this user: `$XDG_DATA_HOME/handoff-examples/favourites`.
    init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        // Foundation's home folder is that of the user database, regardless of $HOME.
        func root(_ name: String) -> URL? {
            environment[name].flatMap { $0.hasPrefix("/") ? URL(fileURLWithPath: $0) : nil }
        }
        let home = root("HOME") ?? FileManager.default.homeDirectoryForCurrentUser
        let folder = root("XDG_DATA_HOME") ?? home.appendingPathComponent(".local/share")
        self.init(file: folder.appendingPathComponent("handoff-examples/favourites"))
    }

    /// Creates favourites from a file, which need not exist.
    init(file: URL) {
        self.file = file
    }

    /// The numbers of the stores. Read each time, to include changes by other programs and devices.
    var numbers: Set<Int> {
        guard let text = try? String(contentsOf: file, encoding: .utf8) else { return [] }
        return Set(text.split(whereSeparator: \.isNewline).compactMap { Int($0) })
    }

    /// Adds a store, or removes it.
    /// - Returns: whether it is a favourite now.
    /// - Throws: Foundation's error if the file cannot be written.
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
