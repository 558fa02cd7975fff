package import HandoffJSON
package import HandoffModel

/// `PairingDevice`: the device at the other end of a pairing, which has proved that it knows the code.
package struct PairingDevice: Sendable, Equatable {
    /// Its id.
    package var id: DeviceID
    /// What it calls itself; text of that device.
    package var name: String

    /// A device with these properties.
    package init(id: DeviceID, name: String) {
        self.id = id
        self.name = name
    }

    /// Reads the fields; throws `invalidParameter`.
    package init(_ fields: Fields) throws(VarlinkError) {
        self.init(id: try fields.id("id"), name: try fields.text("name"))
    }

    /// The object on the socket.
    package var json: JSONObject {
        ["id": .string(id.hex), "name": .string(name)]
    }
}
