import HandoffHandlers
import HandoffJSON
import LoopIO

/// The places of app declarations, in order of precedence: of several apps with one id, the first
/// counts. Plain values.
package struct HandlerPaths: Sendable, Equatable {
    /// The kind of files in a folder.
    enum Kind: Sendable, Equatable {
        /// Desktop entries, including those in subfolders: `*.desktop`.
        case desktopEntries
        /// Manifests: `*.json`.
        case manifests
    }

    /// A folder, which may not exist.
    package struct Folder: Sendable, Equatable {
        /// Its absolute path.
        package let path: String
        /// The kind of its files.
        let kind: Kind
    }

    /// The folders: first the user's own manifests, then the desktop entries and manifests of each
    /// data folder.
    package let folders: [Folder]
    /// The file with the user's choices; nil if the environment names no configuration folder.
    package let defaults: String?
    /// The files that may name the default browser. The first that does counts.
    let browsers: [String]
    /// The user's language.
    let locale: DesktopLocale
    /// The search path for programs.
    let programs: ProgramSearch

    /// The maximum number of names from `XDG_CURRENT_DESKTOP`.
    private static let maxDesktops = 4

    /// No places, for tests.
    static let none = HandlerPaths(
        folders: [], defaults: nil, browsers: [], locale: DesktopLocale(nil), programs: ProgramSearch(path: ""))
}

extension HandlerPaths {
    /// Reads `XDG_CONFIG_HOME`, `XDG_CONFIG_DIRS`, `XDG_DATA_HOME`, `XDG_DATA_DIRS`,
    /// `XDG_CURRENT_DESKTOP`, `HOME`, `PATH` and the language. Ignores relative paths, as the XDG
    /// Base Directory Specification requires.
    package init(environment: [String: String]) {
        func folder(_ name: String) -> String? { DataFolders.folder(name, in: environment) }
        let home = folder("HOME")
        let configurationHome = folder("XDG_CONFIG_HOME") ?? home.map { $0 + "/.config" }
        let configuration = configurationHome.map { $0 + "/handoff" }
        let data = DataFolders.list(environment: environment)
        // In each folder, a desktop's own file precedes the general one.
        let desktops = (environment["XDG_CURRENT_DESKTOP"] ?? "").split(separator: ":").prefix(Self.maxDesktops).map {
            $0.lowercased().filter { $0.isLetter || $0.isNumber || $0 == "-" } + "-"
        }
        let configurations =
            [configurationHome].compactMap(\.self)
            + (environment["XDG_CONFIG_DIRS"].flatMap { $0.isEmpty ? nil : $0 } ?? "/etc/xdg").split(separator: ":")
            .filter {
                $0.hasPrefix("/")
            }.prefix(DataFolders.max).map { DataFolders.trimmed(String($0)) }
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
}
