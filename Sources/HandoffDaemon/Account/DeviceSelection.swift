import HandoffModel

/// Finds the member that a user means. Plain values.
enum DeviceSelection {
    /// What was found.
    enum Outcome: Equatable {
        /// Exactly this one.
        case one(DeviceID)
        /// Nobody fits.
        case nothing
        /// Several fit, ascending.
        case ambiguous([DeviceID])
    }

    /// The member whose id begins with `text` (4 digits at least), or whose name it is.
    ///
    /// A whole id means its device alone: names are claims, and one that reads like the id of another device must not keep
    /// anyone from removing either.
    static func choose(_ text: String, among members: Set<DeviceID>, name: (DeviceID) -> String) -> Outcome {
        let fitting = members.filter { OfferSelection.means(text, id: $0, name: name($0)) }.sorted()
        if let whole = DeviceID(hex: text), fitting.contains(whole) { return .one(whole) }
        guard let first = fitting.first else { return .nothing }
        return fitting.count == 1 ? .one(first) : .ambiguous(fitting)
    }
}
