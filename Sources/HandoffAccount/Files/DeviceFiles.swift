package import HandoffCrypto
internal import HandoffProtocol

/// The file with the seed of the device key. It identifies the device in any account.
package enum IdentityFile {
    /// Encodes `seed`, 32 bytes.
    package static func encode(seed: SecretBytes) -> SecretBytes {
        FileFormat.identity.file([seed])
    }

    /// Decodes the seed.
    package static func decode(_ file: SecretBytes) throws(FileError) -> SecretBytes {
        var reader = try FileFormat.identity.content(of: file)
        let seed = try reader.secret(SigningKey.seedCount)
        try reader.finish()
        return seed
    }
}

/// The file with the generation number of the latest start. Peers discard state from before the
/// greatest number.
package enum GenerationFile {
    /// Numbers reported by peers are ignored from here up, so that a false report cannot exhaust
    /// the range.
    static let maxReported: UInt64 = 1 << 62

    /// The number of a start at `now`, in seconds since 1970, after the start with number `stored`.
    ///
    /// It rises even when the clock was set back, and follows the clock when the file was lost.
    /// With a clock before 1970 the first number is 1, because 0 means none.
    package static func next(stored: UInt64?, now: UInt64) -> UInt64 {
        guard let stored else { return max(now, 1) }
        let (next, hasOverflowed) = stored.addingReportingOverflow(1)
        return max(hasOverflowed ? stored : next, now)
    }

    /// The number to continue with after a peer reports that it has seen our number `seen` while we
    /// are at `current`. This happens after the state was restored from a backup. Nil if no change
    /// is needed or the report is not credible.
    package static func raised(current: UInt64, seen: UInt64) -> UInt64? {
        seen > current && seen < maxReported ? seen + 1 : nil
    }

    /// Encodes `number`.
    package static func encode(_ number: UInt64) -> SecretBytes {
        var writer = ByteWriter(capacity: 8)
        writer.u64(number)
        return FileFormat.boot.file([SecretBytes(copying: writer.bytes)])
    }

    /// Decodes the number.
    package static func decode(_ file: SecretBytes) throws(FileError) -> UInt64 {
        var reader = try FileFormat.boot.content(of: file)
        let number = try reader.u64()
        try reader.finish()
        return number
    }
}
