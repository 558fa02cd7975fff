/// A side of SPAKE2; the two are not symmetric.
package enum SPAKE2Role: Sendable, Hashable {
    /// Starts, blinds with M, and sends its confirmation first.
    case a
    /// Answers, and blinds with N.
    case b
}
