/// Formats how long ago something happened.
package enum RelativeAge {
    /// Formats `just now`, `2 min`, `3 h`, `4 days`.
    /// - Parameter seconds: the age; a negative value or NaN counts as now.
    package static func text(seconds: Double) -> String {
        guard seconds >= 60 else { return "just now" }
        // A received number may exceed every integer type.
        let whole = Int(min(seconds, 1e9))
        switch whole {
        case ..<3600: return "\(whole / 60) min"
        case ..<172_800: return "\(whole / 3600) h"
        default: return "\(whole / 86_400) days"
        }
    }
}
