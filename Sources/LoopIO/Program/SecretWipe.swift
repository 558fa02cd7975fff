import CLinux

/// Overwrites secrets stored in an ordinary array. Copies that the array made while it grew are not
/// overwritten.
package enum SecretWipe {
    /// Overwrites the bytes with zeros (explicit_bzero(3)) and empties the array. If another array
    /// shares the storage, that array is unchanged.
    package static func wipe(_ bytes: inout [UInt8]) {
        bytes.withUnsafeMutableBytes { clinux_wipe($0.baseAddress, $0.count) }
        bytes = []
    }
}
