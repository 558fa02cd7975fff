import HandoffCrypto
package import HandoffProtocol

/// The marks beside a beacon: for each party that is to find the device, one for each endpoint and proof of freshness; and random
/// bytes in all other places, which look the same.
package struct Marks: Sendable, Equatable {
    /// Bytes of one mark: its id and its proof.
    package static let markCount = idCount + proofCount
    /// Bytes by which the reader recognises a mark that is meant for it. They need no clock, and prove nothing.
    static let idCount = 3
    /// Bytes that prove that the mark is fresh.
    static let proofCount = 5
    /// Places for marks.
    package static let places = 30
    /// Salts that are echoed to one party.
    package static let maxEchoes = 4
    /// Bytes of all.
    package static let byteCount = markCount * places

    /// An endpoint as marks are made for it: an address of 4 or 16 bytes, without a scope, and the port of the record as u16.
    package static func endpoint(_ address: [UInt8], port: UInt16) -> [UInt8] { address + port.bigEndianBytes }

    /// One mark to write: for whom, for which endpoint of the writer, and what proves that it is fresh.
    package struct Place: Sendable {
        package let keys: PairwiseKeys
        /// 4 or 16 bytes.
        package let endpoint: [UInt8]
        package let freshness: Freshness

        package init(keys: PairwiseKeys, endpoint: [UInt8], freshness: Freshness) {
            self.keys = keys
            self.endpoint = endpoint
            self.freshness = freshness
        }
    }

    /// The meaning of a record's marks to one party, for one endpoint of that record.
    package enum Reading: Sendable, Equatable {
        /// None is meant for it.
        case foreign
        /// One is meant for it, and is not fresh by its clock, nor by what it has sealed lately.
        case unproved
        /// One is fresh by the writer's clock.
        case period(Period)
        /// One echoes this salt of its own.
        case echo([UInt8])
    }

    /// The bytes as they are in the TXT record.
    package let bytes: [UInt8]

    /// Marks as they were found; nil unless there are exactly 240 bytes.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = Array(bytes)
    }

    /// Marks for one record. All their bytes are other ones in the next record, so that no comparison shows which are marks.
    ///
    /// - Parameters:
    ///   - salt: that of the record.
    ///   - places: at most 30; the others find no place.
    package init(under label: Label, salt: [UInt8], for places: [Place]) {
        var written = places.prefix(Self.places).map {
            $0.keys.mark(under: label, salt: salt, endpoint: $0.endpoint, $0.freshness)
        }
        while written.count < Self.places { written.append(Randomness.bytes(Self.markCount)) }
        bytes = written.shuffled().flatMap(\.self)
    }

    /// Reads the marks as the party that has `keys`.
    ///
    /// - Parameters:
    ///   - salt: that of the record.
    ///   - endpoint: an endpoint of the record: the marks of others prove nothing for it.
    ///   - unixSeconds: the reader's wall clock.
    ///   - salts: those of the records that the reader has sealed lately.
    package func read(
        with keys: PairwiseKeys, under label: Label, salt: [UInt8], endpoint: [UInt8], unixSeconds: Int64,
        salts: [[UInt8]]
    ) -> Reading {
        var reading = Reading.foreign
        for (number, id) in keys.markIDs(under: label, salt: salt, endpoint: endpoint).enumerated() {
            for proof in proofs(for: id) {
                func isProved(_ freshness: Freshness) -> Bool {
                    ConstantTime.equal(
                        proof, keys.markProof(under: label, salt: salt, endpoint: endpoint, freshness))
                }
                if number == 0 {
                    let period = Period(unixSeconds: unixSeconds).accepted.first { isProved(.period($0)) }
                    if let period { return .period(period) }
                } else if let echoed = salts.first(where: { isProved(.echo($0, number: number)) }) {
                    return .echo(echoed)
                }
                reading = .unproved
            }
        }
        return reading
    }

    /// The proofs behind an id. Compares ids in plain time: every host on the link can read both.
    private func proofs(for id: [UInt8]) -> [[UInt8]] {
        stride(from: 0, to: bytes.count, by: Self.markCount).compactMap { start in
            let place = bytes[start..<(start + Self.markCount)]
            return place.starts(with: id) ? Array(place.dropFirst(Self.idCount)) : nil
        }
    }
}
