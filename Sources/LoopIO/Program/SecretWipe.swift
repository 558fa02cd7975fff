import CLinux

/// Overwrites secrets that had to be in an ordinary array. Copies that the array made while it grew are out of reach.
package enum SecretWipe {
    /// Overwrites the bytes with zeros (explicit_bzero(3)) and empties the array. An array that shares its storage with
    /// another one leaves that one as it is.
    package static func wipe(_ bytes: inout [UInt8]) {
        bytes.withUnsafeMutableBytes { clinux_wipe($0.baseAddress, $0.count) }
        bytes = []
    }
}
