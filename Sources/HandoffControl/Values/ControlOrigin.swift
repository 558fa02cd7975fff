package import HandoffJSON
package import HandoffModel

/// `Origin`: the device and the app that an activity came from.
package struct ControlOrigin: Sendable, Equatable {
    /// The device.
    package var device: DeviceID
    /// Its name.
    package var deviceName: String
    /// What it is.
    package var deviceKind: DeviceKind
    /// What the app there calls itself.
    package var app: String?
    /// The version that the app there names.
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

    /// Reads the fields; throws `invalidParameter`.
    package init(_ fields: Fields) throws(VarlinkError) {
        self.init(
            device: try fields.id("device"), deviceName: try fields.text("deviceName"),
            deviceKind: try fields.kind("deviceKind"), app: try fields.optionalText("app"),
            appVersion: try fields.optionalText("appVersion"))
    }

    /// The object on the socket.
    package var json: JSONObject {
        [
            "device": .string(device.hex), "deviceName": .string(deviceName), "deviceKind": .string(deviceKind.name),
            "app": .nullable(app), "appVersion": .nullable(appVersion),
        ]
    }
}
