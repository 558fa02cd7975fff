/// The device, and the app on it, from which an activity arrived or which has continued one.
package struct Origin: Decodable, Sendable, Equatable {
    /// The device.
    package var device: DeviceID
    /// Its name.
    package var deviceName: String
    /// The kind of machine.
    package var deviceKind: DeviceKind
    /// The name that the app there gives itself.
    package var app: String?
    /// The version that the app there gives.
    package var appVersion: String?

    /// An origin with these properties.
    package init(
        device: DeviceID, deviceName: String, deviceKind: DeviceKind, app: String? = nil, appVersion: String? = nil
    ) {
        self.device = device
        self.deviceName = deviceName
        self.deviceKind = deviceKind
        self.app = app
        self.appVersion = appVersion
    }
}
