import HandoffCrypto
import HandoffPairing
import Testing

/// An attacker who has recorded a whole pairing, even without TLS, and tries all codes offline,
/// learns nothing.
///
/// The recording has the salt, pA = x·G + w·M, pB = y·G + w·N, both confirmations and the sealed
/// frames. For every candidate w' there is exactly one x' with pA = x'·G + w'·M and one y' with pB
/// = y'·G + w'·N, because G generates the whole group. The shares therefore fit each code equally
/// well. Confirmations and seals are keyed by a hash over K = x·y·G, which for a candidate would be
/// x'·y'·G. Computing it from X' = pA - w'·M and Y' = pB - w'·N is the computational Diffie-Hellman
/// problem, for the right code as for all others. Without x or y no candidate can be tested, so
/// 10^8 codes are as good as 2^128.
///
/// No test can show that a problem is hard. These tests show the premises of the argument: the
/// shares exclude no candidate, nothing computable from a candidate verifies, whether or not it is
/// the right code, and only a private scalar makes the difference.
@Suite struct PairingTranscriptTests {
    private static let right = "12345678"
    /// A sample of the codes, including the right one.
    private static let candidates = [right, "12345679", "00000000", "99999999", "87654321"]

    private let salt: PairingSalt
    private let x: P256Scalar
    private let identities = SPAKE2Identities(
        a: Array("handoff/1 joiner".utf8), b: Array("handoff/1 inviter".utf8),
        additionalData: Array("handoff/1 pair".utf8) + PairingSamples.exporter)
    private let messages: [PairingFrameKind: [[UInt8]]]

    init() throws {
        salt = try PairingSamples.salt()
        x = try P256Scalar()
        let code = try #require(PairingCode(Self.right))
        let password = try #require(try PairingPassword(code: code, salt: salt))
        var pair = try SessionPair(inviterPassword: password, joinerPassword: password)
        pair.joiner = JoinerSession(
            exporter: PairingSamples.exporter, identity: try PairingSamples.joinerKey(), name: "second", scalar: x)
        try pair.run()
        #expect(pair.isStored)
        messages = pair.messages.reduce(into: [:]) { messages, message in
            guard let kind = PairingFrameKind(rawValue: message.bytes[4]) else { return }
            messages[kind, default: []].append(Array(message.bytes.dropFirst(5)))
        }
    }

    private func first(_ kind: PairingFrameKind) throws -> [UInt8] {
        try #require(messages[kind]?.first)
    }

    /// w of a code, computed as in docs/protocol.md.
    private func w(_ code: String) throws -> P256Scalar {
        let wide = try Scrypt(n: 1 << 16, r: 8, p: 1).derive(
            from: SecretBytes(copying: Array(code.utf8)), salt: Array("handoff/1 pair".utf8) + salt.bytes,
            count: 48)
        return try #require(try P256Scalar(reducing: wide))
    }

    /// Applies RFC 9382 to a guessed K. Returns whether it explains the confirmations or opens a
    /// sealed frame.
    private func explains(_ k: [UInt8], _ w: P256Scalar) throws -> Bool {
        var transcript: [UInt8] = []
        let shares = (try first(.shareA), try first(.shareB))
        for part in [identities.a, identities.b, shares.0, shares.1, k, w.bytes.exposedCopy()] {
            transcript += (0..<8).map { UInt8(truncatingIfNeeded: part.count >> (8 * $0)) } + part
        }
        let hash = SHA256.hash(transcript)
        let info = Array("ConfirmationKeys".utf8) + identities.additionalData
        let both = try HKDF.derive(SecretBytes(copying: hash.suffix(16)), salt: [], info: info, count: 32).exposedCopy()
        let ofA = HMACSHA256.authenticate(transcript, key: SecretBytes(copying: both.prefix(16)))
        let ofB = HMACSHA256.authenticate(transcript, key: SecretBytes(copying: both.suffix(16)))
        var seal = try PairingSeal(
            sharedKey: SecretBytes(copying: hash.prefix(16)), exporter: PairingSamples.exporter, role: .inviter)
        let isOpened = seal.open(PairingFrame(.identity, try first(.identity))) != nil
        let confirms = [try ofA == first(.confirmA), try ofB == first(.confirmB), isOpened]
        #expect(Set(confirms).count == 1, "only some of them verify")
        return confirms.contains(true)
    }

    @Test(arguments: candidates)
    func `the shares fit every candidate`(_ code: String) throws {
        let (m, n) = try blinds(try w(code))
        let a = try #require(P256Point(uncompressed: try first(.shareA))).minus(m)
        let b = try #require(P256Point(uncompressed: try first(.shareB))).minus(n)
        // Both are points of the group other than infinity, as multiples of G are, so nothing is
        // excluded.
        #expect(P256Point(uncompressed: a.uncompressed) != nil)
        #expect(P256Point(uncompressed: b.uncompressed) != nil)
    }

    @Test(arguments: candidates)
    func `nothing computable by an observer verifies, with any candidate`(_ code: String) throws {
        let w = try w(code)
        let (m, n) = try blinds(w)
        let shareA = try #require(P256Point(uncompressed: try first(.shareA)))
        let shareB = try #require(P256Point(uncompressed: try first(.shareB)))
        let (a, b) = (try shareA.minus(m), try shareB.minus(n))
        let one = try #require(try P256Scalar(reducing: SecretBytes(copying: [1])))
        let guesses = [
            a, b, try a.plus(b), try a.minus(b), shareA, shareB, m, n, try a.times(w), try b.times(w),
            try P256Point(generatorTimes: w), try P256Point(generatorTimes: one),
        ]
        for k in guesses { #expect(try !explains(k.uncompressed, w)) }
    }

    @Test(arguments: candidates)
    func `only a private scalar distinguishes the right code from the others`(_ code: String) throws {
        let w = try w(code)
        let b = try #require(P256Point(uncompressed: try first(.shareB))).minus(try blinds(w).n)
        #expect(try explains(b.times(x).uncompressed, w) == (code == Self.right))
    }

    /// w times M and w times N, computed from shares whose scalar is 1.
    private func blinds(_ w: P256Scalar) throws -> (m: P256Point, n: P256Point) {
        let one = try #require(try P256Scalar(reducing: SecretBytes(copying: [1])))
        let generator = try P256Point(generatorTimes: one)
        func blind(_ role: SPAKE2Role) throws -> P256Point {
            let share = try SPAKE2(role: role, password: w, identities: identities, scalar: one).share
            return try #require(P256Point(uncompressed: share)).minus(generator)
        }
        return (try blind(.a), try blind(.b))
    }
}
