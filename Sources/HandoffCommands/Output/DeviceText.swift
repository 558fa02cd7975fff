import HandoffControl
import HandoffModel
import LoopIO

/// Formats the devices of the account.
struct DeviceText {
    private let devices: [ControlDevice]
    private let areUnanswered: Bool
    private let now: Double
    private let names: DeviceNames

    /// - Parameters:
    ///   - areUnanswered: true if no other device has answered for a long time, so that it is
    ///     unknown which key they have.
    ///   - now: the current time, in seconds since 1970.
    init(_ devices: [ControlDevice], areUnanswered: Bool = false, now: Double = Double(SystemWallClock().unixSeconds)) {
        self.devices = devices
        self.areUnanswered = areUnanswered
        self.now = now
        names = DeviceNames(devices)
    }

    /// Returns a name with the id prefix, since a name alone is only a claim: `Laptop (3f9c2ab)`. A
    /// name that the daemon has already labelled is not changed.
    static func label(_ name: String, _ id: DeviceID) -> String {
        VisibleText.escape(
            DeviceNames.isLabel(name, of: id) ? name : "\(name.isEmpty ? "unnamed" : name) (\(id.short))")
    }

    /// Returns the label of the device at the other end of a pairing.
    static func label(_ device: PairingDevice) -> String { label(device.name, device.id) }

    /// Returns the label of a device of the account, or the id prefix of one that is no longer in
    /// the list.
    func label(_ id: DeviceID) -> String {
        devices.contains { $0.id == id } ? VisibleText.escape(names.fullLabel(of: id)) : names.beginning(of: id)
    }

    /// Returns several labels in one line.
    func labels(_ ids: [DeviceID]) -> String {
        ids.map(label).joined(separator: ", ")
    }

    /// The sleeping devices, and since when they sleep, as a fragment; nil if there are
    /// none.
    var asleep: String? {
        let words = devices.compactMap { device in
            device.asleepSince.map {
                "\(label(device.id)) has been asleep since \(LocalTime.short($0, now: now))"
            }
        }
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }

    /// A table with a row for each device.
    var table: ColumnTable {
        let alike = ConfusableNames.groups(Dictionary(devices.map { ($0.id, $0.name) }) { first, _ in first })
        var table = ColumnTable(["NAME", "KIND", "STATE", "ID", "NOTE"])
        for device in devices {
            table.add([
                VisibleText.escape(device.name.isEmpty ? "unnamed" : device.name),
                device.kind.name,
                Self.state(device, now: now),
                names.beginning(of: device.id),
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

    /// Returns the state of an offline device: "asleep since 21:40" or "offline", with the time
    /// when it was last seen.
    static func absence(
        _ device: ControlDevice, now: Double = Double(SystemWallClock().unixSeconds)
    ) -> String {
        if let since = device.asleepSince { return "asleep since \(LocalTime.short(since, now: now))" }
        guard let age = device.heard else { return "offline" }
        return "offline, seen \(RelativeAge.text(seconds: age))" + (age < 60 ? "" : " ago")
    }

    private func notes(_ device: ControlDevice, like others: [DeviceID]) -> [String] {
        var notes: [String] = []
        if device.unfinished {
            notes.append("pairing not finished: run join there again, or remove it")
        } else if !device.current, device.isSelf || !areUnanswered {
            notes.append("does not have the latest key")
        }
        if !others.isEmpty {
            notes.append("name similar to \(others.map(names.beginning).joined(separator: ", "))")
        }
        return notes
    }
}
