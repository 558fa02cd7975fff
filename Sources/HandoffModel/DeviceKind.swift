import HandoffJSON

/// What a device is; the badge on an offer. The raw value is what crosses the network.
package enum DeviceKind: UInt8, Codable, Sendable, CaseIterable {
    /// Unknown, or none of the others.
    case other = 0
    /// A machine that stays on a desk.
    case desktop = 1
    /// A machine with a lid, also one that converts to a tablet.
    case laptop = 2
    /// A tablet.
    case tablet = 3
    /// A phone.
    case phone = 4
    /// A machine without a screen.
    case server = 5
    /// A virtual machine or a container.
    case vm = 6

    /// The kind that a value from the network stands for; a value of a later version is `other`.
    package init(wire value: UInt8) {
        self = DeviceKind(rawValue: value) ?? .other
    }

    /// The kind for a chassis as `org.freedesktop.hostname1` names it (hostnamectl(1), `chassis`).
    package init(chassis: String) {
        let kinds: [String: DeviceKind] = [
            "desktop": .desktop, "laptop": .laptop, "convertible": .laptop, "tablet": .tablet, "handset": .phone,
            "server": .server, "vm": .vm, "container": .vm,
        ]
        self = kinds[chassis] ?? .other
    }

    /// The kind of a name that came over the socket; that of a later version is `other`.
    package init(from decoder: any Decoder) throws {
        self = DeviceKind(name: try decoder.singleValueContainer().decode(String.self)) ?? .other
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(name)
    }

    /// Nil unless it is the name of a kind.
    package init?(name: String) {
        guard let kind = Self.allCases.first(where: { $0.name.hasSameBytes(as: name) }) else { return nil }
        self = kind
    }

    /// The name on the control socket and in the output of commands.
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
