import HandoffAccount
import HandoffCrypto
import HandoffModel

/// Keys that are equal in every run: key `i` has the seed `i` in four bytes, repeated.
enum TestKeys {
    private static let pool: [SigningKey] = (0..<256).compactMap { try? make($0) }
    private static let devices: [DeviceID] = pool.map { DeviceID($0.publicKey) }

    /// The key number `index`.
    static func key(_ index: Int) throws -> SigningKey {
        pool.indices.contains(index) ? pool[index] : try make(index)
    }

    private static func make(_ index: Int) throws -> SigningKey {
        let number = UInt32(index)
        let word = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
        return try SigningKey(seed: SecretBytes(copying: Array(repeatElement(word, count: 8).joined())))
    }

    /// The device whose key is number `index`.
    static func device(_ index: Int) throws -> DeviceID {
        devices.indices.contains(index) ? devices[index] : DeviceID(try key(index).publicKey)
    }
}
