/// Which end of a connection this device is.
package enum SessionRole: Sendable, Equatable {
    /// This device called, and speaks first; the certificate is that of the device that it meant.
    case client

    /// This device was called; `isLive` tells whether the certificate is that of a live device, else it is one that
    /// must introduce itself by statements.
    case server(isLive: Bool)
}
