package import HandoffControl
package import HandoffModel

/// The restrictions of the machine's administrator, which override all settings of the user.
///
/// Several files are combined. Each can add restrictions, but none can lift those of another.
package struct Policy: Sendable, Equatable {
    /// The forbidden directions, and the line that forbids each.
    private var directions: [SwitchDirection: String] = [:]
    /// The line that forbids keeping activities, here and on other devices; nil if it is allowed.
    package private(set) var forbidsKeeping: String?
    private var types: [(pattern: TypePattern, place: String)] = []
    private var apps: [String: String] = [:]
    private var devices: [DeviceID: String] = [:]

    /// The maximum number of forbidden items of each kind.
    static let maxItems = 4096

    /// A type, or a prefix of types.
    struct TypePattern: Equatable, Sendable {
        /// The bytes of the type or prefix.
        let bytes: [UInt8]
        let isPrefix: Bool

        /// Returns nil for an invalid text.
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

    package init() {}

    /// Returns the place that forbids a direction entirely, or nil.
    package func forbids(_ direction: SwitchDirection) -> String? { directions[direction] }

    /// Returns the place that forbids a type in both directions, or nil.
    package func forbids(_ type: ActivityType) -> String? { types.first { $0.pattern.fits(type) }?.place }

    /// The ids of the forbidden apps.
    package var forbiddenApps: [String] { apps.keys.sorted() }

    /// Returns the place that forbids the app with this id in both directions, or nil.
    package func forbids(app: String) -> String? { apps[app] }

    /// Returns the place that forbids a device in both directions, or nil.
    package func forbids(_ device: DeviceID) -> String? { devices[device] }

    /// The forbidden devices.
    package var forbiddenDevices: Set<DeviceID> { Set(devices.keys) }

    // The following add the value of one line. `place` is its file and line, reported when something
    // is forbidden. They return false if the value is not allowed, or there are too many items.

    mutating func setAllowed(_ value: String, _ direction: SwitchDirection, place: String) -> Bool {
        guard let isAllowed = ValueText.truth(value) else { return false }
        if !isAllowed { directions[direction] = directions[direction] ?? place }
        return true
    }

    mutating func setKept(_ value: String, place: String) -> Bool {
        guard let isAllowed = ValueText.truth(value) else { return false }
        if !isAllowed { forbidsKeeping = forbidsKeeping ?? place }
        return true
    }

    mutating func forbidType(_ value: String, place: String) -> Bool {
        guard types.count < Self.maxItems, let pattern = TypePattern(value) else { return false }
        types.append((pattern, place))
        return true
    }

    mutating func forbidApp(_ value: String, place: String) -> Bool {
        guard apps.count < Self.maxItems, (1...255).contains(value.utf8.count) else { return false }
        apps[value] = apps[value] ?? place
        return true
    }

    mutating func forbidDevice(_ value: String, place: String) -> Bool {
        guard devices.count < Self.maxItems, let device = DeviceID(hex: value) else { return false }
        devices[device] = devices[device] ?? place
        return true
    }

    package static func == (left: Policy, right: Policy) -> Bool {
        left.directions == right.directions && left.forbidsKeeping == right.forbidsKeeping && left.apps == right.apps
            && left.devices == right.devices
            && left.types.elementsEqual(right.types) { $0.pattern == $1.pattern && $0.place == $1.place }
    }
}
