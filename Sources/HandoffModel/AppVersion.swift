/// The version of an app as far as two can be compared: numbers with dots between them, such as 2.10.1.
package struct AppVersion: Hashable, Sendable, TextValue {
    /// What a text must be to be a version, as messages say it.
    package static let rule = "1 to 8 numbers of up to 9 digits with dots between them"

    private static let mostNumbers = 8
    private static let mostDigits = 9

    /// The version as it was given.
    package let description: String
    private let numbers: [Int]

    /// Nil for what cannot be compared.
    package init?(_ text: String) {
        var numbers: [Int] = []
        for part in text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
            let isNumber = part.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            guard isNumber, (1...Self.mostDigits).contains(part.count), numbers.count < Self.mostNumbers else {
                return nil
            }
            numbers.append(part.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) })
        }
        self.numbers = numbers
        description = text
    }

    /// Whether it is before a bound, of which only as many numbers count as that has: 2.9 is not after 2.
    fileprivate func isBefore(_ bound: AppVersion) -> Bool { upTo(bound).lexicographicallyPrecedes(bound.numbers) }

    /// Whether it is after a bound; see `isBefore`.
    fileprivate func isAfter(_ bound: AppVersion) -> Bool { bound.numbers.lexicographicallyPrecedes(upTo(bound)) }

    private func upTo(_ bound: AppVersion) -> [Int] {
        let missing = max(0, bound.numbers.count - numbers.count)
        return Array(numbers.prefix(bound.numbers.count)) + Array(repeating: 0, count: missing)
    }
}

/// From which versions of the app at the origin an app continues activities of a type.
package struct VersionRange: Hashable, Sendable {
    /// The first one; nil: from any on.
    package var minimum: AppVersion?
    /// The last one; of it only as many numbers count as there are, so that 2 includes 2.9. Nil: up to any.
    package var maximum: AppVersion?

    /// A range with these ends.
    package init(minimum: AppVersion? = nil, maximum: AppVersion? = nil) {
        self.minimum = minimum
        self.maximum = maximum
    }

    /// Reads `TYPE MINIMUM MAXIMUM`, as files have it, with `-` for an end that is open.
    package static func declared(_ text: String) -> (type: ActivityType, range: VersionRange)? {
        let words = text.split(separator: " ").map(String.init)
        guard words.count == 3, let type = ActivityType(words[0]) else { return nil }
        let (minimum, maximum) = (AppVersion(words[1]), AppVersion(words[2]))
        guard minimum != nil || words[1] == "-", maximum != nil || words[2] == "-" else { return nil }
        return (type, VersionRange(minimum: minimum, maximum: maximum))
    }

    /// Whether what an app says of its version is within the range. What cannot be compared is in no range that has an end.
    package func contains(_ version: String?) -> Bool {
        guard minimum != nil || maximum != nil else { return true }
        guard let version = version.flatMap({ AppVersion($0) }) else { return false }
        if let minimum, version.isBefore(minimum) { return false }
        if let maximum, version.isAfter(maximum) { return false }
        return true
    }
}

extension VersionRange: CustomStringConvertible {
    /// The range in words, for a message.
    package var description: String {
        switch (minimum, maximum) {
        case (nil, nil): "any version"
        case (let minimum?, nil): "\(minimum) or later"
        case (nil, let maximum?): "up to \(maximum)"
        case (let minimum?, let maximum?): "\(minimum) to \(maximum)"
        }
    }
}
