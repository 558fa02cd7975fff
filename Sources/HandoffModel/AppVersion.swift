/// A comparable app version: numbers separated by dots, such as 2.10.1.
package struct AppVersion: Hashable, Sendable, TextValue {
    /// The format of a version, for error messages.
    package static let rule = "1 to 8 numbers of up to 9 digits with dots between them"

    private static let maxNumbers = 8
    private static let maxDigits = 9

    /// The version as given.
    package let description: String
    private let numbers: [Int]

    /// Returns nil if the text cannot be compared as a version.
    package init?(_ text: String) {
        var numbers: [Int] = []
        for part in text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
            let isNumber = part.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            guard isNumber, (1...Self.maxDigits).contains(part.count), numbers.count < Self.maxNumbers else {
                return nil
            }
            numbers.append(part.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) })
        }
        self.numbers = numbers
        description = text
    }

    /// Returns whether this version is before `bound`. Only as many numbers count as `bound` has:
    /// 2.9 is not after 2.
    fileprivate func isBefore(_ bound: AppVersion) -> Bool { upTo(bound).lexicographicallyPrecedes(bound.numbers) }

    /// Returns whether this version is after `bound`; see `isBefore`.
    fileprivate func isAfter(_ bound: AppVersion) -> Bool { bound.numbers.lexicographicallyPrecedes(upTo(bound)) }

    private func upTo(_ bound: AppVersion) -> [Int] {
        let missing = max(0, bound.numbers.count - numbers.count)
        return Array(numbers.prefix(bound.numbers.count)) + Array(repeating: 0, count: missing)
    }
}

/// The versions of the app at the origin whose activities of a type an app continues.
package struct VersionRange: Hashable, Sendable {
    /// The first version, or nil if there is no lower bound.
    package var minimum: AppVersion?
    /// The last version, or nil if there is no upper bound. Only the numbers that it has count, so
    /// 2 includes 2.9.
    package var maximum: AppVersion?

    package init(minimum: AppVersion? = nil, maximum: AppVersion? = nil) {
        self.minimum = minimum
        self.maximum = maximum
    }

    /// Parses `TYPE MINIMUM MAXIMUM`, as written in files. `-` means no bound.
    package static func declared(_ text: String) -> (type: ActivityType, range: VersionRange)? {
        let words = text.split(separator: " ").map(String.init)
        guard words.count == 3, let type = ActivityType(words[0]) else { return nil }
        let (minimum, maximum) = (AppVersion(words[1]), AppVersion(words[2]))
        guard minimum != nil || words[1] == "-", maximum != nil || words[2] == "-" else { return nil }
        return (type, VersionRange(minimum: minimum, maximum: maximum))
    }

    /// Returns whether the version reported by an app is within the range. A version that cannot be
    /// compared is outside every range with a bound.
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
