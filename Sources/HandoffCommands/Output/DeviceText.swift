import HandoffControl
import HandoffModel

/// The devices of the account, for people.
struct DeviceText {
    private let devices: [ControlDevice]
    /// Digits of an id that tell all of them apart.
    private let idLength: Int

    init(_ devices: [ControlDevice]) {
        self.devices = devices
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

    /// A line for each device, with what is special about it.
    var table: ColumnTable {
        let alike = ConfusableNames.groups(Dictionary(devices.map { ($0.id, $0.name) }) { first, _ in first })
        var table = ColumnTable(["NAME", "KIND", "STATE", "ID", "NOTE"])
        for device in devices {
            table.add([
                VisibleText.escape(device.name.isEmpty ? "unnamed" : device.name),
                device.kind.name,
                device.isSelf ? "this device" : device.online ? "online" : "offline",
                shortID(device.id),
                notes(device, like: alike[device.id] ?? []).joined(separator: "; "),
            ])
        }
        return table
    }

    private func shortID(_ id: DeviceID) -> String { String(id.hex.prefix(idLength)) }

    private func notes(_ device: ControlDevice, like others: [DeviceID]) -> [String] {
        var notes: [String] = []
        if device.unfinished {
            notes.append("pairing not finished: run join there again, or remove it")
        } else if !device.current {
            notes.append("has not heard of the latest key")
        }
        if !others.isEmpty {
            notes.append("named like \(others.map(shortID).joined(separator: ", "))")
        }
        return notes
    }
}
