/// The folders of the XDG Base Directory Specification.
package enum DataFolders {
    /// The maximum number of folders from a variable.
    package static let max = 64

    /// The data folders, the user's own first.
    package static func list(environment: [String: String]) -> [String] {
        let given = environment["XDG_DATA_DIRS"].flatMap { $0.isEmpty ? nil : $0 } ?? "/usr/local/share:/usr/share"
        let system = given.split(separator: ":").filter { $0.hasPrefix("/") }.map { trimmed(String($0)) }
        let own =
            folder("XDG_DATA_HOME", in: environment) ?? folder("HOME", in: environment).map { $0 + "/.local/share" }
        var data: [String] = []
        for path in [own].compactMap(\.self) + system where data.count < max {
            if !data.contains(where: { $0.utf8.elementsEqual(path.utf8) }) { data.append(path) }
        }
        return data
    }

    /// The folder in a variable; nil if it is not an absolute path.
    package static func folder(_ name: String, in environment: [String: String]) -> String? {
        environment[name].flatMap { $0.hasPrefix("/") ? trimmed($0) : nil }
    }

    /// The path without trailing slashes.
    package static func trimmed(_ path: String) -> String {
        var path = path[...]
        while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
        return String(path)
    }
}
