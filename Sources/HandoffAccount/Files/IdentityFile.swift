package import HandoffCrypto

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
