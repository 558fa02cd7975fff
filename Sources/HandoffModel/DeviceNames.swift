/// The names of the live devices of an account, this one included: how each is shown, and which device a text means. All commands,
/// windows and messages follow these rules.
///
/// A name is a claim of its device. Where two devices have the same name, or names that a reader takes for one another, each is shown
/// with the beginning of its id, whether or not it offers anything: `Laptop (3f9c2ab)`. A name that fits two devices means neither.
package struct DeviceNames: Sendable {
    /// The meaning of a text.
    package enum Choice: Equatable, Sendable {
        /// Exactly this device.
        case one(DeviceID)
        /// No device fits.
        case nothing
        /// Several fit, ascending.
        case ambiguous([DeviceID])
    }

    /// The fewest digits of an id that mean a device.
    package static let minDigits = 4

    private let names: [DeviceID: String]
    /// Devices that are shown with the beginning of their ids.
    private let confusable: Set<DeviceID>
    /// Digits that differ between all ids; at least seven.
    private let idLength: Int

    /// - Parameter names: of all live devices; empty for one without a name.
    package init(_ names: [DeviceID: String]) {
        self.names = names
        let alike = ConfusableNames.groups(names.filter { !$0.value.isEmpty }).keys
        // A name in the form of a label could be taken for another device with that id.
        let labels = names.filter { Self.parts(of: $0.value) != nil }.keys
        confusable = Set(alike).union(labels)
        idLength = DeviceID.distinctLength(names.keys)
    }

    /// The label of a device, not yet escaped; the beginning of its id for a device without a name.
    package func label(of device: DeviceID) -> String {
        guard let name = names[device], !name.isEmpty else { return beginning(of: device) }
        return confusable.contains(device) ? "\(name) (\(beginning(of: device)))" : name
    }

    /// The beginning of the id of a device, which no other one shares.
    package func beginning(of device: DeviceID) -> String { String(device.hex.prefix(idLength)) }

    /// The name of a device with the beginning of its id, not yet escaped.
    package func fullLabel(of device: DeviceID) -> String {
        let name = names[device] ?? ""
        return "\(name.isEmpty ? "unnamed" : name) (\(beginning(of: device)))"
    }

    /// Whether a name that is shown ends with the beginning of this id already.
    package static func isLabel(_ name: String, of device: DeviceID) -> Bool {
        parts(of: name).map { begins(device, with: $0.digits) } ?? false
    }

    /// The device that a text means: by its whole name, by the beginning of its id in either case and with or without groups, or by
    /// both as ``label(of:)`` shows them.
    ///
    /// A whole id means its device alone: names are claims, and one that reads like the id of another device must not keep a user from
    /// removing either.
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

    /// Whether the id of a device begins with these digits, and there are enough of them.
    private static func begins(_ device: DeviceID, with digits: String) -> Bool {
        digits.utf8.count >= minDigits && device.hex.utf8.starts(with: digits.utf8)
    }

    /// Lower case without the separators of groups.
    package static func digits(_ text: String) -> String { text.lowercased().filter { !" -:".contains($0) } }

    /// The name and the digits of a text in the form of a label; nil for any other text.
    private static func parts(of text: String) -> (name: String, digits: String)? {
        guard text.last == ")", let open = text.lastIndex(of: "("), open != text.startIndex,
            text[text.index(before: open)] == " "
        else { return nil }
        let digits = text[text.index(after: open)...].dropLast()
        guard digits.utf8.count >= minDigits, digits.allSatisfy({ $0.isASCII && $0.isHexDigit }) else { return nil }
        return (String(text[..<text.index(before: open)]), digits.lowercased())
    }
}

/// Finds devices whose names a person could take for one another.
///
/// Names count as equal here when they differ in nothing but case, spaces and invisible characters. Letters of different
/// scripts that look alike are told apart by the ids beside the names, not by this.
package enum ConfusableNames {
    /// For each device whose name is like that of others, those others.
    package static func groups(_ names: [DeviceID: String]) -> [DeviceID: [DeviceID]] {
        var alike: [String: [DeviceID]] = [:]
        for (device, name) in names { alike[skeleton(name), default: []].append(device) }
        var result: [DeviceID: [DeviceID]] = [:]
        for devices in alike.values where devices.count > 1 {
            for device in devices { result[device] = devices.filter { $0 != device }.sorted() }
        }
        return result
    }

    /// What remains of a name without what a reader overlooks. Characters that are composed and such that are equal to
    /// them as a whole are the same to `String`.
    package static func skeleton(_ name: String) -> String {
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
