import LoopIO

/// Bytes of a secret, overwritten when nobody holds them any more. It is a class so that passing it on makes no copies.
package final class SecretBuffer {
    /// The bytes; a copy that is kept elsewhere is not overwritten.
    package private(set) var bytes: [UInt8]

    /// Takes over bytes that the caller has no further use for.
    package init(_ bytes: consuming [UInt8] = []) {
        self.bytes = bytes
    }

    deinit {
        SecretWipe.wipe(&bytes)
    }

    /// Makes room once, so that growing leaves no copies behind.
    func reserve(_ count: Int) {
        bytes.reserveCapacity(count)
    }

    func append(_ more: [UInt8]) {
        bytes += more
    }
}
