/// How long ago something was, as people say it.
package enum RelativeAge {
    /// The age in words: `just now`, `2 min`, `3 h`, `4 days`.
    /// - Parameter seconds: the age; what is negative or no number counts as now.
    package static func text(seconds: Double) -> String {
        guard seconds >= 60 else { return "just now" }
        // A number from outside may be beyond every integer.
        let whole = Int(min(seconds, 1e9))
        switch whole {
        case ..<3600: return "\(whole / 60) min"
        case ..<172_800: return "\(whole / 3600) h"
        default: return "\(whole / 86_400) days"
        }
    }
}
