import HandoffControl
import HandoffHandlers
import LoopIO

/// The paths of the daemon's sockets, and of the files that show whether it is available.
struct HostPlaces: Sendable, Equatable {
    /// The daemon's socket for apps.
    let app: String
    /// The daemon's socket for the user's tools.
    let control: String
    /// Files of which one exists if the user has an account. Without an account, the host does not
    /// connect to the socket, because the service manager would start the daemon (decision 12). If
    /// empty, it always connects.
    let accounts: [String]
    /// The files of excluded pages, the administrator's and the user's.
    let exclusions: [String]

    /// - Parameters:
    ///   - environment: Returns a variable. `HANDOFF_SOCKET` is the socket of a daemon started
    ///     manually.
    ///   - userID: The owner of the runtime folder.
    init(environment: (String) -> String?, userID: UInt32) {
        func folder(_ name: String) -> String? {
            environment(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        let runtime = environment("XDG_RUNTIME_DIR")
        let given = environment("HANDOFF_SOCKET").flatMap { $0.isEmpty ? nil : $0 }
        app = given ?? SocketPath.app(runtimeDirectory: runtime, userID: userID)
        control = given ?? SocketPath.control(runtimeDirectory: runtime, userID: userID)
        let home = folder("HOME")
        let configuration = folder("XDG_CONFIG_HOME") ?? home.map { $0 + "/.config" }
        let state = folder("XDG_STATE_HOME") ?? home.map { $0 + "/.local/state" }
        // The same paths as in `StatePlace`, which contains more than a program without keys should
        // know.
        accounts = given != nil ? [] : [configuration, state].compactMap(\.self).map { $0 + "/handoff/state/account" }
        exclusions = PageExclusions.paths(configuration: configuration)
    }

    /// Reads the excluded pages. The files are small, and on the disk of the browser's profile.
    func readRules() -> PageRules {
        PageRules(
            exclusions: PageExclusions(exclusions) {
                try PlainFile.readOptional($0, limit: PageExclusions.maxFile)?.bytes
            })
    }
}
