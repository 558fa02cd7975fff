import LoopIO

/// The programs that open a web page in the user's browser.
enum PageOpener {
    /// Each with the words in front of the address, best first: the first knows most desktops.
    private static let programs: [[String]] = [["xdg-open"], ["gio", "open"]]

    /// The words in front of the address, the first an absolute path; nil when none of the programs is there.
    static func find(in search: ProgramSearch) -> [String]? {
        for words in programs {
            if let name = words.first, let path = search.find(name) { return [path] + words.dropFirst() }
        }
        return nil
    }
}
