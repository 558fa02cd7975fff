internal import COpenSSL

/// Unpredictable bytes that are not secret: nonces, salts, ids. Use `SecretBytes(random:)` for
/// keys.
package enum Randomness {
    /// Returns `count` bytes from OpenSSL's random generator, which is seeded by the system's
    /// (`RAND_bytes`).
    ///
    /// Traps if there are none: getrandom(2) does not fail after the machine has started, and
    /// guessable bytes would be worse than a crash.
    package static func bytes(_ count: Int) -> [UInt8] {
        OpenSSL.start()
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            precondition(RAND_bytes(buffer.baseAddress, Int32(count)) == 1, "no randomness")
            initialized = count
        }
    }
}
