package import HandoffModel

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
            let isJoiner = scalar == "\u{200C}" || scalar == "\u{200D}"
            if scalar.properties.isWhitespace || isJoiner || VisibleText.isHidden(scalar) { continue }
            if scalar.properties.isVariationSelector || scalar.properties.isDefaultIgnorableCodePoint { continue }
            kept.append(scalar)
        }
        return String(kept)
    }
}
