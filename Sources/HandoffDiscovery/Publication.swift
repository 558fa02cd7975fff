/// What this device announces.
package struct Publication: Sendable, Equatable {
    /// The instance name: one DNS label of letters, digits, `-` and `_`, at most 63 bytes.
    package var instance: String
    /// The first label of the host name that the service points to, random and without `.local`; same rules.
    package var host: String
    /// The TCP and UDP port.
    package var port: UInt16
    /// The strings of the TXT record; at most 255 bytes each and `TextData.maximumByteCount` in all.
    package var text: [[UInt8]]

    package init(instance: String, host: String, port: UInt16, text: [[UInt8]]) {
        self.instance = instance
        self.host = host
        self.port = port
        self.text = text
    }
}
