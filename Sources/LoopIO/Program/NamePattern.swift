import Glibc

/// Patterns of names with `*`, `?` and `[…]`, as shells have them.
package enum NamePattern {
    /// fnmatch(3).
    package static func matches(_ pattern: String, _ name: String) -> Bool {
        fnmatch(pattern, name, 0) == 0
    }
}
