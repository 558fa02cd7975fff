package import HandoffModel

/// Picks the activity that a user means, among those on offer.
package enum OfferSelection {
    /// What a choice led to.
    package enum Outcome<Offer> {
        /// Exactly this one.
        case one(Offer)
        /// Nothing fits.
        case nothing
        /// The beginning of an id fits several, or two devices offer one id; their ids.
        case ambiguous([String])
    }

    /// The offer whose id begins with `prefix`, or else the most recent one.
    ///
    /// Ids are random and known to all members: a device that offers one that another has wants to be taken for it.
    ///
    /// - Parameters:
    ///   - offers: what is on offer and fits the user's other conditions, most recent first.
    ///   - prefix: hexadecimal digits in either case, with or without groups; nil takes the most recent.
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

    /// Whether an id in lower-case hexadecimal begins with at least four digits, in either case, with or without groups.
    static func begins(_ id: String, with text: String) -> Bool {
        let digits = normalised(text)
        return digits.count >= 4 && id.utf8.starts(with: digits)
    }

    /// Lower case of ASCII, as digits are, without the separators of groups.
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
