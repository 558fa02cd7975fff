import HandoffCrypto
import Testing

struct PublicKeyTests {
    @Test func `encoding is that of RFC 8410`() throws {
        // RFC 8410, section 10.1
        let raw = hex("19bf44096984cdfe8541bac167dc3b96c85086aa30b6b6cb0c5c38ad703166e1")
        let key = try #require(PublicKey(raw: raw))
        #expect(key.subjectPublicKeyInfo == hex("302a300506032b6570032100") + raw)
        #expect(PublicKey(subjectPublicKeyInfo: key.subjectPublicKeyInfo) == key)
    }

    @Test func `every other encoding is rejected`() throws {
        let good = try SigningKey().publicKey.subjectPublicKeyInfo
        for index in 0..<12 {
            var changed = good
            changed[index] ^= 1
            #expect(PublicKey(subjectPublicKeyInfo: changed) == nil)
        }
        #expect(PublicKey(subjectPublicKeyInfo: good + [0]) == nil)
        for count in 0..<good.count {
            #expect(PublicKey(subjectPublicKeyInfo: Array(good.prefix(count))) == nil)
        }
        #expect(PublicKey(raw: [UInt8](repeating: 0, count: 31)) == nil)
        #expect(PublicKey(raw: [UInt8](repeating: 0, count: 33)) == nil)
    }
}
