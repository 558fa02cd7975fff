package import HandoffJSON

/// `PairingWindow`: what a new device needs to reach an open window.
package struct PairingWindowDescription: Sendable, Equatable {
    /// Eight digits, or nil while only the link opens.
    package var code: String?
    /// The link with the long secret, as text.
    package var link: String
    /// Where the inviting device listens: host:port, the likeliest first.
    package var addresses: [String]
    /// How long the window is open, in seconds.
    package var seconds: Int

    /// A window with these properties.
    package init(code: String?, link: String, addresses: [String], seconds: Int) {
        self.code = code
        self.link = link
        self.addresses = addresses
        self.seconds = seconds
    }

    /// Reads the fields; throws `invalidParameter`.
    package init(_ fields: Fields) throws(VarlinkError) {
        self.init(
            code: try fields.optionalText("code"), link: try fields.text("link"),
            addresses: try fields.texts("addresses"), seconds: try fields.integer("seconds"))
    }

    /// The object on the socket.
    package var json: JSONObject {
        [
            "code": .nullable(code), "link": .string(link), "addresses": .array(addresses.map(JSON.string)),
            "seconds": .integer(Int64(seconds)),
        ]
    }
}
