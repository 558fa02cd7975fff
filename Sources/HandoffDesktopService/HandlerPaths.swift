package import HandoffHandlers
package import LoopIO

/// Where apps say what they continue, in the order in which the first of one id counts. Plain values.
package struct HandlerPaths: Sendable, Equatable {
    /// What files a folder has.
    package enum Kind: Sendable, Equatable {
        /// Desktop entries, also in folders below: `*.desktop`.
        case desktopEntries
        /// Manifests: `*.json`.
        case manifests
    }

    /// A folder, which may be missing.
    package struct Folder: Sendable, Equatable {
        /// Its absolute path.
        package let path: String
        /// What is in it.
        package let kind: Kind
    }

    /// The folders, first the user's own manifests, then for each folder for data its desktop entries and its manifests.
    package let folders: [Folder]
    /// The file with the user's choices; nil where the environment names no folder for configuration.
    package let defaults: String?
    /// Files that name the default browser, the first that does so counts.
    package let browsers: [String]
    /// The user's language.
    package let locale: DesktopLocale
    /// Where programs are looked for.
    package let programs: ProgramSearch

    /// Folders that are taken from `XDG_DATA_DIRS` at most.
    private static let maxData = 64
    /// Names that are taken from `XDG_CURRENT_DESKTOP` at most.
    private static let maxDesktops = 4

    /// No place at all, as in tests.
    package static let none = HandlerPaths(
        folders: [], defaults: nil, browsers: [], locale: DesktopLocale(nil), programs: ProgramSearch(path: ""))

    private init(
        folders: [Folder], defaults: String?, browsers: [String], locale: DesktopLocale, programs: ProgramSearch
    ) {
        self.folders = folders
        self.defaults = defaults
        self.browsers = browsers
        self.locale = locale
        self.programs = programs
    }

    /// Reads `XDG_CONFIG_HOME`, `XDG_CONFIG_DIRS`, `XDG_DATA_HOME`, `XDG_DATA_DIRS`, `XDG_CURRENT_DESKTOP`, `HOME`, `PATH` and the
    /// language. Relative paths are ignored,
    /// as the XDG Base Directory Specification demands.
    package init(environment: [String: String]) {
        func folder(_ name: String) -> String? { Self.folder(name, in: environment) }
        let home = folder("HOME")
        let configurationHome = folder("XDG_CONFIG_HOME") ?? home.map { $0 + "/.config" }
        let configuration = configurationHome.map { $0 + "/handoff" }
        let data = Self.dataFolders(environment: environment)
        // A desktop's own file comes before the one for all, in each folder.
        let desktops = (environment["XDG_CURRENT_DESKTOP"] ?? "").split(separator: ":").prefix(Self.maxDesktops).map {
            $0.lowercased().filter { $0.isLetter || $0.isNumber || $0 == "-" } + "-"
        }
        let configurations =
            [configurationHome].compactMap(\.self)
            + (environment["XDG_CONFIG_DIRS"].flatMap { $0.isEmpty ? nil : $0 } ?? "/etc/xdg").split(separator: ":")
            .filter {
                $0.hasPrefix("/")
            }.prefix(Self.maxData).map { Self.trimmed(String($0)) }
        let browsers = (configurations + data.map { $0 + "/applications" }).flatMap { place in
            (desktops + [""]).map { "\(place)/\($0)mimeapps.list" }
        }
        let manifests = configuration.map { [Folder(path: $0 + "/handlers.d", kind: .manifests)] } ?? []
        self.init(
            folders: manifests
                + data.flatMap { path in
                    [
                        Folder(path: path + "/applications", kind: .desktopEntries),
                        Folder(path: path + "/handoff/handlers.d", kind: .manifests),
                    ]
                },
            defaults: configuration.map { $0 + "/defaults" }, browsers: browsers,
            locale: DesktopLocale(environment: environment),
            programs: ProgramSearch(path: environment["PATH"]))
    }

    /// The folders for data, the user's own first.
    static func dataFolders(environment: [String: String]) -> [String] {
        let given = environment["XDG_DATA_DIRS"].flatMap { $0.isEmpty ? nil : $0 } ?? "/usr/local/share:/usr/share"
        let system = given.split(separator: ":").filter { $0.hasPrefix("/") }.map { trimmed(String($0)) }
        let own =
            folder("XDG_DATA_HOME", in: environment) ?? folder("HOME", in: environment).map { $0 + "/.local/share" }
        var data: [String] = []
        for path in [own].compactMap(\.self) + system where !data.contains(path) && data.count < maxData {
            data.append(path)
        }
        return data
    }

    /// The folder that a variable names; nil for a relative path.
    private static func folder(_ name: String, in environment: [String: String]) -> String? {
        environment[name].flatMap { $0.hasPrefix("/") ? trimmed($0) : nil }
    }

    private static func trimmed(_ path: String) -> String {
        var path = path[...]
        while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
        return String(path)
    }
}
