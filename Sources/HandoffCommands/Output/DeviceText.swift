import HandoffControl
package import HandoffModel
import LoopIO
import Timing

/// The devices of the account, for people.
struct DeviceText {
    private let devices: [ControlDevice]
    private let areUnanswered: Bool
    private let now: Double
    /// Digits of an id that tell all of them apart.
    private let idLength: Int

    /// - Parameters:
    ///   - areUnanswered: whether none of the others has answered for long: then nobody knows which key they have.
    ///   - now: the present moment, in seconds since 1970.
    init(_ devices: [ControlDevice], areUnanswered: Bool = false, now: Double = Double(SystemWallClock().unixSeconds)) {
        self.devices = devices
        self.areUnanswered = areUnanswered
        self.now = now
        idLength = Describe.distinctLength(devices.map(\.id))
    }

    /// A name with the beginning of the id, since a name alone is only a claim: `Laptop (3f9c2ab)`.
    static func label(_ name: String, _ id: String) -> String {
        "\(VisibleText.escape(name.isEmpty ? "unnamed" : name)) (\(id))"
    }

    /// The same of a device at the other end of a pairing.
    static func label(_ device: PairingDevice) -> String { label(device.name, device.id.short) }

    /// The same of a device of the account, or of one that is not in the list any more.
    func label(_ id: DeviceID) -> String {
        let name = devices.first { $0.id == id }?.name
        return name.map { Self.label($0, shortID(id)) } ?? shortID(id)
    }

    /// Several of them in one line.
    func labels(_ ids: [DeviceID]) -> String {
        ids.map(label).joined(separator: ", ")
    }

    /// The devices that have said that they are asleep, each with since when, as a fragment; nil when there is none.
    var asleep: String? {
        let words = devices.compactMap { device in
            device.asleepSince.map {
                "\(Self.label(device.name, shortID(device.id))) is asleep since \(LocalTime.short($0, now: now))"
            }
        }
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }

    /// A line for each device, with what is special about it.
    var table: ColumnTable {
        let alike = ConfusableNames.groups(Dictionary(devices.map { ($0.id, $0.name) }) { first, _ in first })
        var table = ColumnTable(["NAME", "KIND", "STATE", "ID", "NOTE"])
        for device in devices {
            table.add([
                VisibleText.escape(device.name.isEmpty ? "unnamed" : device.name),
                device.kind.name,
                Self.state(device, now: now),
                shortID(device.id),
                notes(device, like: alike[device.id] ?? []).joined(separator: "; "),
            ])
        }
        return table
    }

    private static func state(_ device: ControlDevice, now: Double) -> String {
        if device.isSelf { return "this device" }
        if device.online { return "online" }
        return absence(device, now: now)
    }

    /// The state of a device that is not online: "asleep since 21:40" or "offline", with the time when it was last seen.
    static func absence(
        _ device: ControlDevice, now: Double = Double(SystemWallClock().unixSeconds)
    ) -> String {
        if let since = device.asleepSince { return "asleep since \(LocalTime.short(since, now: now))" }
        guard let heard = device.heard else { return "offline" }
        return "offline, seen \(RelativeAge.text(seconds: heard))" + (heard < 60 ? "" : " ago")
    }

    private func shortID(_ id: DeviceID) -> String { String(id.hex.prefix(idLength)) }

    private func notes(_ device: ControlDevice, like others: [DeviceID]) -> [String] {
        var notes: [String] = []
        if device.unfinished {
            notes.append("pairing not finished: run join there again, or remove it")
        } else if !device.current, device.isSelf || !areUnanswered {
            notes.append("has not heard of the latest key")
        }
        if !others.isEmpty {
            notes.append("named like \(others.map(shortID).joined(separator: ", "))")
        }
        return notes
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

/// Finds the device that a word on the command line means. What is shown to the user and what is done then concern the
/// same device, whatever happens in between: the daemon is given the whole id.
enum DeviceChoice {
    /// The device of this name, or whose id begins like this.
    /// - Throws: `CommandFailure` when none or several fit.
    static func find(_ text: String, in devices: [ControlDevice]) throws(CommandFailure) -> ControlDevice {
        let digits = digits(text)
        let fitting = devices.filter { device in
            device.name == text || (!digits.isEmpty && device.id.hex.hasPrefix(digits))
        }
        guard let device = fitting.first else { throw .noSuchDevice(text) }
        guard fitting.count == 1 else {
            let texts = DeviceText(devices)
            throw .ambiguousDevice(text, candidates: fitting.map { texts.label($0.id) })
        }
        return device
    }

    /// The digits of the beginning of an id, without the separators of groups.
    static func digits(_ text: String) -> String { text.lowercased().filter { !" -:".contains($0) } }
}
