/// A key of a policy; the raw value is its word in the file.
package enum PolicyKey: String, Sendable, CaseIterable {
    case advertise
    case receive
    case forbidType = "forbid-type"
    case forbidApp = "forbid-app"
    case forbidDevice = "forbid-device"

    /// The values that are allowed, in words that end an error message.
    var allowed: String {
        switch self {
        case .advertise, .receive: "'yes' or 'no'"
        case .forbidType: "an activity type, or the beginning of one with '*' at its end"
        case .forbidApp: "the id of an app, 1 to 255 bytes"
        case .forbidDevice: "the whole id of a device, 64 hexadecimal digits"
        }
    }
}
