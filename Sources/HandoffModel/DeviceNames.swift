/// The names of the live devices of an account, including this one. It determines how each name is
/// displayed and which device a text refers to. All commands, windows and messages use these rules.
///
/// A name is an unverified claim of its device. Devices with equal or confusable names are shown
/// with a prefix of their id, whether or not they offer anything: `Laptop (3f9c2ab)`. A name that
/// matches two devices selects neither.
package struct DeviceNames: Sendable {
    /// The result of looking up a text.
    package enum Choice: Equatable, Sendable {
        case one(DeviceID)
        case nothing
        /// Several devices match, in ascending order.
        case ambiguous([DeviceID])
    }

    /// The minimum number of digits of an id prefix that selects a device.
    static let minDigits = 4

    private let names: [DeviceID: String]
    /// Devices that are shown with a prefix of their id.
    private let confusable: Set<DeviceID>
    /// The prefix length at which all ids differ; at least seven digits.
    private let idLength: Int

    /// - Parameter names: The names of all live devices, empty for one without a name.
    package init(_ names: [DeviceID: String]) {
        self.names = names
        let alike = ConfusableNames.groups(names.filter { !$0.value.isEmpty }).keys
        // A name in the form of a label could be mistaken for another device with that id.
        let labels = names.filter { Self.parts(of: $0.value) != nil }.keys
        confusable = Set(alike).union(labels)
        idLength = DeviceID.distinctLength(names.keys)
    }

    /// Returns the label of a device, not yet escaped. For a device without a name, it is a prefix
    /// of the id.
    package func label(of device: DeviceID) -> String {
        guard let name = names[device], !name.isEmpty else { return beginning(of: device) }
        return confusable.contains(device) ? "\(name) (\(beginning(of: device)))" : name
    }

    /// Returns the prefix of a device's id that no other device shares.
    package func beginning(of device: DeviceID) -> String { String(device.hex.prefix(idLength)) }

    /// Returns the name of a device with a prefix of its id, not yet escaped.
    package func fullLabel(of device: DeviceID) -> String {
        let name = names[device] ?? ""
        return "\(name.isEmpty ? "unnamed" : name) (\(beginning(of: device)))"
    }

    /// Returns whether a displayed name already ends with a prefix of this id.
    package static func isLabel(_ name: String, of device: DeviceID) -> Bool {
        parts(of: name).map { begins(device, with: $0.digits) } ?? false
    }

    /// Finds the device that a text refers to: by its full name, by an id prefix in either case and
    /// with or without groups, or by both as shown by ``label(of:)``.
    ///
    /// A full id selects only its own device. Names are unverified, and a name that looks like
    /// another device's id must not prevent the user from removing either device.
    package func choose(_ text: String) -> Choice {
        if let whole = DeviceID(hex: Self.digits(text)) { return names[whole] == nil ? .nothing : .one(whole) }
        let fitting = names.filter { means(text, $0.key, $0.value) }.keys.sorted()
        guard let first = fitting.first else { return .nothing }
        return fitting.count == 1 ? .one(first) : .ambiguous(fitting)
    }

    private func means(_ text: String, _ device: DeviceID, _ name: String) -> Bool {
        if name == text || Self.begins(device, with: Self.digits(text)) { return true }
        guard let parts = Self.parts(of: text) else { return false }
        return parts.name == name && Self.begins(device, with: parts.digits)
    }

    /// Returns whether the id of a device starts with these digits and there are enough of them.
    private static func begins(_ device: DeviceID, with digits: String) -> Bool {
        digits.utf8.count >= minDigits && device.hex.utf8.starts(with: digits.utf8)
    }

    /// Returns the text in lower case without group separators.
    package static func digits(_ text: String) -> String { text.lowercased().filter { !" -:".contains($0) } }

    /// Returns the name and the digits of a text in the form of a label, or nil for any other text.
    private static func parts(of text: String) -> (name: String, digits: String)? {
        guard text.last == ")", let open = text.lastIndex(of: "("), open != text.startIndex,
            text[text.index(before: open)] == " "
        else { return nil }
        let digits = text[text.index(after: open)...].dropLast()
        guard digits.utf8.count >= minDigits, digits.allSatisfy({ $0.isASCII && $0.isHexDigit }) else { return nil }
        return (String(text[..<text.index(before: open)]), digits.lowercased())
    }
}

/// Finds devices whose names could be confused by a reader.
///
/// Names count as equal if they differ only in case, spaces and invisible characters. Similar
/// letters from different scripts are not detected. The ids shown with the names distinguish those
/// devices.
package enum ConfusableNames {
    /// Returns, for each device with a confusable name, the devices whose names it resembles.
    package static func groups(_ names: [DeviceID: String]) -> [DeviceID: [DeviceID]] {
        var alike: [String: [DeviceID]] = [:]
        for (device, name) in names { alike[skeleton(name), default: []].append(device) }
        var result: [DeviceID: [DeviceID]] = [:]
        for devices in alike.values where devices.count > 1 {
            for device in devices { result[device] = devices.filter { $0 != device }.sorted() }
        }
        return result
    }

    /// Returns a name without the differences that a reader overlooks. `String` comparison treats
    /// composed characters and their canonical equivalents as equal.
    static func skeleton(_ name: String) -> String {
        var kept = String.UnicodeScalarView()
        for scalar in name.lowercased().unicodeScalars {
            if scalar.properties.isWhitespace { continue }
            if VisibleText.isJoiner(scalar) || VisibleText.isHidden(scalar) { continue }
            if scalar.properties.isVariationSelector || scalar.properties.isDefaultIgnorableCodePoint { continue }
            kept.append(scalar)
        }
        return String(kept)
    }
}
