import Glibc

/// Shell patterns for names, with `*`, `?` and `[…]`.
package enum NamePattern {
    /// True if the name matches (fnmatch(3)).
    package static func matches(_ pattern: String, _ name: String) -> Bool {
        fnmatch(pattern, name, 0) == 0
    }
}
