package import HandoffModel

/// Selects an activity on offer from a prefix of its id.
package enum OfferSelection {
    /// The result of a selection.
    package enum Outcome<Offer> {
        /// Exactly one offer matches.
        case one(Offer)
        /// No offer matches.
        case nothing
        /// The prefix matches several ids, or two devices offer the same id; the ids.
        case ambiguous([String])
    }

    /// Returns the offer whose id begins with `prefix`; without a prefix, the most recent one.
    ///
    /// Ids are random and known to all members. A device that offers another device's id tries to
    /// impersonate it.
    ///
    /// - Parameters:
    /// - offers: the offers that match the user's other conditions, most recent first.
    /// - prefix: hexadecimal digits in either case, with or without group separators; nil for the
    ///   most recent.
    package static func choose<Offer>(
        _ offers: [Offer], prefix: String?, id: (Offer) -> ActivityID
    ) -> Outcome<Offer> {
        guard let prefix else { return offers.first.map { .one($0) } ?? .nothing }
        let digits = normalised(prefix)
        guard !digits.isEmpty else { return .nothing }
        let fitting = offers.filter { id($0).begins(with: digits) }
        switch fitting.count {
        case 0: return .nothing
        case 1: return fitting.first.map { .one($0) } ?? .nothing
        default: return .ambiguous(fitting.map { id($0).hex })
        }
    }

    /// Returns whether an id in lower-case hexadecimal begins with `text`: at least four digits, in
    /// either case, with or without group separators.
    static func begins(_ id: String, with text: String) -> Bool {
        let digits = normalised(text)
        return digits.count >= 4 && id.utf8.starts(with: digits)
    }

    /// Returns a text in ASCII lower case, without group separators.
    private static func normalised(_ text: String) -> [UInt8] {
        var digits: [UInt8] = []
        digits.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: ":"): continue
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): digits.append(byte | 0x20)
            default: digits.append(byte)
            }
        }
        return digits
    }
}
