internal import Glibc
internal import LoopIO

/// Where the state folder is.
package struct StatePlace: Sendable, Equatable {
    /// The folder.
    package let path: String
    /// Another folder with an identity, that this choice passes by: two identities on one machine are hardly meant, so
    /// the daemon warns of it.
    package let passedBy: String?

    /// Chooses by the first that applies: `given` (from `--state-dir`); `$STATE_DIRECTORY`; `handoff/state` in the folder
    /// for configuration, if an identity is there already; `handoff/state` in the folder for state.
    ///
    /// The third is what systemd before version 254 makes of `StateDirectory=` in a user's unit: whoever starts the
    /// daemon by hand afterwards must get the same identity.
    ///
    /// - Parameters:
    ///   - environment: looks up a variable; `STATE_DIRECTORY`, `XDG_CONFIG_HOME`, `XDG_STATE_HOME` and `HOME` are read.
    ///     Relative paths in them are ignored, as the XDG specification demands.
    ///   - hasIdentity: whether a folder holds an identity file.
    package static func choose(
        given: String?, environment: (String) -> String?,
        hasIdentity: (String) -> Bool = StatePlace.hasIdentity
    ) throws(StateError) -> StatePlace {
        func folder(_ name: String) -> String? {
            environment(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        if let given { return StatePlace(path: given, passedBy: nil) }
        let home = folder("HOME")
        let configured = (folder("XDG_CONFIG_HOME") ?? home.map { $0 + "/.config" }).map { $0 + "/handoff/state" }
        let usual = (folder("XDG_STATE_HOME") ?? home.map { $0 + "/.local/state" }).map { $0 + "/handoff/state" }
        let marked = [configured, usual].compactMap(\.self).filter(hasIdentity)
        // systemd gives a list with colons when a unit has several; ours has one.
        let managed = folder("STATE_DIRECTORY")?.split(separator: ":").first.map(String.init)
        guard let path = managed ?? marked.first(where: { $0 == configured }) ?? usual else { throw .noPlace }
        return StatePlace(path: path, passedBy: marked.first { $0 != path })
    }

    /// Whether the folder holds an identity file (access(2)).
    package static func hasIdentity(_ folder: String) -> Bool {
        // Safe: the string outlives the call.
        unsafe access((folder + "/" + StateFile.identity.rawValue).systemPath, F_OK) == 0
    }
}
