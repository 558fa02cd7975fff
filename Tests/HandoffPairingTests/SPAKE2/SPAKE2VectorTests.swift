import HandoffCrypto
import HandoffModel
import HandoffPairing
import Testing

/// SPAKE2 conforms to RFC 9382.
@Suite struct SPAKE2VectorTests {
    @Test(arguments: SPAKE2Vector.all)
    func `both sides send the shares of the vector`(_ vector: SPAKE2Vector) throws {
        let (a, b) = try sides(vector)
        #expect(Hex.encode(a.share) == vector.shareA)
        #expect(Hex.encode(b.share) == vector.shareB)
    }

    @Test(arguments: SPAKE2Vector.all)
    func `both sides have the key and the confirmations of the vector`(_ vector: SPAKE2Vector) throws {
        let (a, b) = try sides(vector)
        let ofA = try #require(try a.keys(for: b.share))
        let ofB = try #require(try b.keys(for: a.share))
        for keys in [ofA, ofB] { #expect(Hex.encode(keys.sharedKey.exposedCopy()) == vector.sharedKey) }
        #expect(Hex.encode(ofA.confirmation) == vector.confirmationA)
        #expect(Hex.encode(ofB.confirmation) == vector.confirmationB)
        #expect(ofA.isConfirmed(by: ofB.confirmation))
        #expect(ofB.isConfirmed(by: ofA.confirmation))
    }

    /// The implementation never reveals K and the intermediate keys; this computes them from its
    /// parts.
    @Test(arguments: SPAKE2Vector.all)
    func `the parts give K, Ka, KcA and KcB of the vector`(_ vector: SPAKE2Vector) throws {
        let (a, b) = try sides(vector)
        let w = try scalar(vector.w)
        let n = try #require(P256Point(uncompressed: try point("N")))
        let peer = try #require(P256Point(uncompressed: b.share))
        let k = try peer.minus(n.times(w)).times(try scalar(vector.x)).uncompressed
        #expect(Hex.encode(k) == vector.k)
        var transcript: [UInt8] = []
        for part in [Array(vector.a.utf8), Array(vector.b.utf8), a.share, b.share, k, w.bytes.exposedCopy()] {
            transcript += (0..<8).map { UInt8(truncatingIfNeeded: part.count >> (8 * $0)) } + part
        }
        let hash = SHA256.hash(transcript)
        #expect(Hex.encode(Array(hash.suffix(16))) == vector.authenticationKey)
        let both = try HKDF.derive(
            SecretBytes(copying: hash.suffix(16)), salt: [], info: Array("ConfirmationKeys".utf8), count: 32
        ).exposedCopy()
        #expect(Hex.encode(Array(both.prefix(16))) == vector.confirmationKeyA)
        #expect(Hex.encode(Array(both.suffix(16))) == vector.confirmationKeyB)
    }

    private func sides(_ vector: SPAKE2Vector) throws -> (a: SPAKE2, b: SPAKE2) {
        let identities = SPAKE2Identities(a: Array(vector.a.utf8), b: Array(vector.b.utf8), additionalData: [])
        let w = try scalar(vector.w)
        return (
            try SPAKE2(role: .a, password: w, identities: identities, scalar: try scalar(vector.x)),
            try SPAKE2(role: .b, password: w, identities: identities, scalar: try scalar(vector.y))
        )
    }

    private func scalar(_ hex: String) throws -> P256Scalar {
        let bytes = SecretBytes(copying: try #require(Hex.decode(hex)))
        return try #require(try P256Scalar(reducing: bytes))
    }

    /// N of the RFC, uncompressed.
    private func point(_: String) throws -> [UInt8] {
        try #require(
            Hex.decode(
                "04d8bbd6c639c62937b04d997f38c3770719c629d7014d49a24b4f98baa1292b49"
                    + "07d60aa6bfade45008a636337f5168c64d9bd36034808cd564490b1e656edbe7"))
    }
}
