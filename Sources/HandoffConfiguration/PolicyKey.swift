/// A key of a policy. The raw value is its name in the file.
package enum PolicyKey: String, Sendable, CaseIterable {
    case advertise
    case receive
    case forbidType = "forbid-type"
    case forbidApp = "forbid-app"
    case forbidDevice = "forbid-device"

    /// The allowed values, as the end of an error message.
    var allowed: String {
        switch self {
        case .advertise, .receive: "'yes' or 'no'"
        case .forbidType: "an activity type, or a prefix of one followed by '*'"
        case .forbidApp: "the id of an app, 1 to 255 bytes"
        case .forbidDevice: "the whole id of a device, 64 hexadecimal digits"
        }
    }
}
