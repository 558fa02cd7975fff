internal import Glibc
internal import LoopIO

/// The location of the state folder.
package struct StatePlace: Sendable, Equatable {
    /// The folder.
    package let path: String
    /// Another folder with an identity that this choice ignores. Two identities on one machine are
    /// probably unintended, so the daemon logs a warning.
    package let ignored: String?

    /// Chooses the first that applies: `given` (from `--state-dir`); `$STATE_DIRECTORY`;
    /// `handoff/state` in the configuration folder, if it already has an identity; `handoff/state`
    /// in the state folder.
    ///
    /// systemd before version 254 uses the third for `StateDirectory=` in a user unit. A daemon
    /// started by hand afterwards must get the same identity.
    ///
    /// - Parameters:
    ///   - environment: looks up a variable; `STATE_DIRECTORY`, `XDG_CONFIG_HOME`, `XDG_STATE_HOME`
    ///     and `HOME` are read. Relative paths in them are ignored, as the XDG specification
    ///     requires.
    ///   - hasIdentity: returns whether a folder contains an identity file.
    package static func choose(
        given: String?, environment: (String) -> String?,
        hasIdentity: (String) -> Bool = StatePlace.hasIdentity
    ) throws(StateError) -> StatePlace {
        func folder(_ name: String) -> String? {
            environment(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        if let given { return StatePlace(path: given, ignored: nil) }
        let home = folder("HOME")
        let configured = (folder("XDG_CONFIG_HOME") ?? home.map { $0 + "/.config" }).map { $0 + "/handoff/state" }
        let usual = (folder("XDG_STATE_HOME") ?? home.map { $0 + "/.local/state" }).map { $0 + "/handoff/state" }
        let marked = [configured, usual].compactMap(\.self).filter(hasIdentity)
        // systemd sets a colon-separated list if a unit has several folders; this unit has one.
        let managed = folder("STATE_DIRECTORY")?.split(separator: ":").first.map(String.init)
        guard let path = managed ?? marked.first(where: { $0 == configured }) ?? usual else { throw .noStatePath }
        return StatePlace(path: path, ignored: marked.first { $0 != path })
    }

    /// Returns whether the folder contains an identity file (access(2)).
    package static func hasIdentity(_ folder: String) -> Bool {
        // Safe: the string outlives the call.
        unsafe access((folder + "/" + StateFile.identity.rawValue).systemPath, F_OK) == 0
    }
}
