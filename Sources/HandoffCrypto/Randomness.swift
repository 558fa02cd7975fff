internal import COpenSSL

/// Unpredictable bytes that are not secret themselves: nonces, salts, ids. Keys come from `SecretBytes(random:)`.
package enum Randomness {
    /// `count` bytes from the system's generator by way of OpenSSL's (`RAND_bytes`).
    ///
    /// Stops the program if there are none: getrandom(2) does not fail once the machine is up, and going on with
    /// guessable bytes would be worse than not running.
    package static func bytes(_ count: Int) -> [UInt8] {
        OpenSSL.start()
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            precondition(RAND_bytes(buffer.baseAddress, Int32(count)) == 1, "no randomness")
            initialized = count
        }
    }
}
