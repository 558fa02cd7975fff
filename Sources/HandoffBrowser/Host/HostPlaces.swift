import HandoffControl
import HandoffHandlers
import LoopIO

/// Where the host finds the daemon, and what tells it whether there is one to look for.
package struct HostPlaces: Sendable, Equatable {
    /// The daemon's socket for apps.
    package let app: String
    /// Its socket for the user's tools.
    package let control: String
    /// Files of which one is there where the user has an account. Without an account the socket is not connected to, since the
    /// service manager would start the daemon for it (decision 12). Empty: it is always connected to.
    package let accounts: [String]
    /// Files with pages that are not offered, the administrator's and the user's.
    package let exclusions: [String]

    /// - Parameters:
    ///   - environment: looks up a variable. `HANDOFF_SOCKET` names the socket of a daemon that somebody has started for this.
    ///   - userID: whose runtime folder it is.
    package init(environment: (String) -> String?, userID: UInt32) {
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
        // As `StatePlace` has them, which knows more than a program without keys should.
        accounts = given != nil ? [] : [configuration, state].compactMap(\.self).map { $0 + "/handoff/state/account" }
        exclusions = PageExclusions.paths(configuration: configuration)
    }

    /// Reads which pages are not offered. The files are small, and on the disk of the browser's own profile.
    package func readRules() -> PageRules {
        PageRules(
            exclusions: PageExclusions(exclusions) { try PlainFile.readOptional($0, limit: PageExclusions.maxFile)?.bytes })
    }
}
