import LoopIO

/// The programs that open a web page in the user's browser.
enum PageOpener {
    /// The commands without the address, in order of preference: the first supports most desktops.
    private static let programs: [[String]] = [["xdg-open"], ["gio", "open"]]

    /// Returns the command without the address, starting with an absolute path; nil if none is
    /// installed.
    static func find(in search: ProgramSearch) -> [String]? {
        for words in programs {
            if let name = words.first, let path = search.find(name) { return [path] + words.dropFirst() }
        }
        return nil
    }
}
