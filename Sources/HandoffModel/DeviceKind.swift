import HandoffJSON

/// The kind of a device, shown as the badge of an offer. The raw value is sent over the network.
package enum DeviceKind: UInt8, Codable, Sendable, CaseIterable {
    /// Unknown, or none of the kinds below.
    case other = 0
    case desktop = 1
    /// A machine with a lid, including one that converts to a tablet.
    case laptop = 2
    case tablet = 3
    case phone = 4
    /// A machine without a screen.
    case server = 5
    /// A virtual machine or a container.
    case vm = 6

    /// Returns the kind for a value from the network. A value of a later version becomes `other`.
    package init(wire value: UInt8) {
        self = DeviceKind(rawValue: value) ?? .other
    }

    /// Returns the kind for a chassis name of `org.freedesktop.hostname1` (hostnamectl(1),
    /// `chassis`).
    package init(chassis: String) {
        let kinds: [String: DeviceKind] = [
            "desktop": .desktop, "laptop": .laptop, "convertible": .laptop, "tablet": .tablet, "handset": .phone,
            "server": .server, "vm": .vm, "container": .vm,
        ]
        self = kinds[chassis] ?? .other
    }

    /// Decodes a name from the socket. A name of a later version becomes `other`.
    package init(from decoder: any Decoder) throws {
        self = DeviceKind(name: try decoder.singleValueContainer().decode(String.self)) ?? .other
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(name)
    }

    /// Returns nil unless `name` is the name of a kind.
    package init?(name: String) {
        guard let kind = Self.allCases.first(where: { $0.name.hasSameBytes(as: name) }) else { return nil }
        self = kind
    }

    /// The name used on the control socket and in command output.
    package var name: String {
        switch self {
        case .other: "other"
        case .desktop: "desktop"
        case .laptop: "laptop"
        case .tablet: "tablet"
        case .phone: "phone"
        case .server: "server"
        case .vm: "vm"
        }
    }
}
