package import HandoffCrypto
internal import HandoffProtocol

/// The file with the seed of the device key: what this device is, whatever account it is in.
package enum IdentityFile {
    /// The content of the file for `seed`, 32 bytes.
    package static func encode(seed: SecretBytes) -> SecretBytes {
        FileFormat.identity.file([seed])
    }

    /// The seed in `file`.
    package static func decode(_ file: SecretBytes) throws(FileError) -> SecretBytes {
        var reader = try FileFormat.identity.content(of: file)
        let seed = try reader.secret(SigningKey.seedCount)
        try reader.finish()
        return seed
    }
}

/// The file with the number of the latest start; a greater one makes everything from before it obsolete to the others.
package enum BootFile {
    /// A peer that tells of this number or more is not believed: hearsay must not use up the numbers.
    package static let hearsayLimit: UInt64 = 1 << 62

    /// The number of a start at `now`, seconds since 1970, after the one with number `stored`.
    ///
    /// It rises even when the clock went back, and rises by the clock when the file was lost. With a clock before 1970 the first one is
    /// 1, since 0 is none.
    package static func next(stored: UInt64?, now: UInt64) -> UInt64 {
        guard let stored else { return max(now, 1) }
        let (next, hasOverflowed) = stored.addingReportingOverflow(1)
        return max(hasOverflowed ? stored : next, now)
    }

    /// The number to go on with when a peer says that it has seen `seen` of us while we are at `current`: that happens
    /// after the state was restored from a backup. Nil when there is nothing to do, or no reason to believe it.
    package static func raised(current: UInt64, seen: UInt64) -> UInt64? {
        seen > current && seen < hearsayLimit ? seen + 1 : nil
    }

    /// The content of the file for `number`.
    package static func encode(_ number: UInt64) -> SecretBytes {
        var writer = ByteWriter(capacity: 8)
        writer.u64(number)
        return FileFormat.boot.file([SecretBytes(copying: writer.bytes)])
    }

    /// The number in `file`.
    package static func decode(_ file: SecretBytes) throws(FileError) -> UInt64 {
        var reader = try FileFormat.boot.content(of: file)
        let number = try reader.u64()
        try reader.finish()
        return number
    }
}
