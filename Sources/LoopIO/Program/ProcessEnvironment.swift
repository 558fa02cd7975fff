import Glibc

/// What the process was started with. Read it before other threads could change it.
package enum ProcessEnvironment {
    /// The value of a variable (getenv(3)); nil when it is not set.
    package static func value(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        return String(cString: value)
    }

    /// The user that the process acts for (geteuid(2)).
    package static var userID: UInt32 { geteuid() }
}
