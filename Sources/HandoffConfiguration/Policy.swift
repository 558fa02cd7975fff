package import HandoffControl
package import HandoffModel

/// What the administrator of the machine forbids, above everything that the user sets. Plain values.
///
/// Of several files each can only forbid more: none can allow what another forbids.
package struct Policy: Sendable, Equatable {
    /// Directions that are forbidden, and the line that says so.
    private var directions: [SwitchDirection: String] = [:]
    private var types: [(pattern: TypePattern, place: String)] = []
    private var apps: [String: String] = [:]
    private var devices: [DeviceID: String] = [:]

    /// The most single things that are forbidden, of each kind.
    static let most = 4096

    /// A type, or the beginning of types.
    struct TypePattern: Equatable, Sendable {
        /// The bytes that a type has, or begins with.
        let bytes: [UInt8]
        let isPrefix: Bool

        /// Nil for a text that is neither.
        init?(_ text: String) {
            isPrefix = text.hasSuffix("*")
            bytes = Array(isPrefix ? text.utf8.dropLast() : text.utf8[...])
            let isWord = bytes.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "*") }
            guard isWord, !bytes.isEmpty || isPrefix, bytes.count <= 255 else { return nil }
        }

        func fits(_ type: ActivityType) -> Bool {
            isPrefix ? type.text.utf8.starts(with: bytes) : type.text.utf8.elementsEqual(bytes)
        }
    }

    /// Nothing is forbidden.
    package init() {}

    /// Where a direction is forbidden for all; nil where it is not.
    package func forbids(_ direction: SwitchDirection) -> String? { directions[direction] }

    /// Where a type is forbidden, both ways.
    package func forbids(_ type: ActivityType) -> String? { types.first { $0.pattern.fits(type) }?.place }

    /// The apps that are forbidden, by their ids.
    package var forbiddenApps: [String] { apps.keys.sorted() }

    /// Where an app is forbidden, both ways, by its id.
    package func forbids(app: String) -> String? { apps[app] }

    /// Where a device is forbidden, both ways.
    package func forbids(_ device: DeviceID) -> String? { devices[device] }

    /// The devices that are forbidden.
    package var forbiddenDevices: Set<DeviceID> { Set(devices.keys) }

    /// Takes one more line.
    ///
    /// - Parameter place: file and line, for whoever is told that something is forbidden.
    /// - Returns: false when the value is not allowed, or there are too many.
    mutating func add(_ key: PolicyKey, _ value: String, place: String) -> Bool {
        switch key {
        case .advertise: return forbid(.advertise, value, place)
        case .receive: return forbid(.receive, value, place)
        case .forbidType:
            guard types.count < Self.most, let pattern = TypePattern(value) else { return false }
            types.append((pattern, place))
        case .forbidApp:
            guard apps.count < Self.most, (1...255).contains(value.utf8.count) else { return false }
            apps[value] = apps[value] ?? place
        case .forbidDevice:
            guard devices.count < Self.most, let device = DeviceID(hex: value) else { return false }
            devices[device] = devices[device] ?? place
        }
        return true
    }

    private mutating func forbid(_ direction: SwitchDirection, _ value: String, _ place: String) -> Bool {
        guard let isAllowed = ValueText.truth(value) else { return false }
        if !isAllowed { directions[direction] = directions[direction] ?? place }
        return true
    }

    package static func == (left: Policy, right: Policy) -> Bool {
        left.directions == right.directions && left.apps == right.apps && left.devices == right.devices
            && left.types.elementsEqual(right.types) { $0.pattern == $1.pattern && $0.place == $1.place }
    }
}
