/// The sizes of the transfer protocol, each in one place.
package enum TransferLimits {
    /// Bytes of JSON in one frame.
    static let frame = 65_536
    /// Bytes of a name, which is what Linux file systems take.
    package static let name = 255
    /// The largest size of a file, in bytes. Well below 2^63, so that sums of two sizes still fit.
    package static let size: Int64 = 1 << 62
    /// Bytes of one chunk of content whose size is not known before.
    package static let chunk = 1_048_576
    /// Bytes of the message of an error.
    static let message = 1024
    /// Bytes of the reason of an error.
    static let reason = 64
    /// Seconds before or after 1970 that a time of a file may be: far beyond any file system.
    static let seconds: Int64 = 1 << 53
}
