import HandoffCrypto
package import HandoffProtocol

/// The marks next to a beacon. Each party that is to find the device has a mark for each endpoint
/// and proof of freshness. Random bytes, indistinguishable from marks, fill the other places.
package struct Marks: Sendable, Equatable {
    /// Size of one mark in bytes: its id and its proof.
    package static let markCount = idCount + proofCount
    /// Size of the id by which a reader recognises its mark. The id needs no clock and proves
    /// nothing.
    static let idCount = 3
    /// Size of the proof that the mark is fresh.
    static let proofCount = 5
    /// Number of places for marks.
    package static let places = 30
    /// Maximum number of salts echoed to one party.
    package static let maxEchoes = 4
    /// Size of all marks in bytes.
    package static let byteCount = markCount * places

    /// Encodes an endpoint for marks: an address of 4 or 16 bytes, without a scope, and the port of
    /// the record as u16.
    package static func endpoint(_ address: [UInt8], port: UInt16) -> [UInt8] { address + port.bigEndianBytes }

    /// A mark to write: its reader, the endpoint of the writer, and the proof of freshness.
    package struct Place: Sendable {
        package let keys: PairwiseKeys
        /// 4 or 16 bytes.
        package let endpoint: [UInt8]
        let freshness: Freshness

        package init(keys: PairwiseKeys, endpoint: [UInt8], freshness: Freshness) {
            self.keys = keys
            self.endpoint = endpoint
            self.freshness = freshness
        }
    }

    /// The meaning of a record's marks for one party and one endpoint of that record.
    package enum Reading: Sendable, Equatable {
        /// No mark is meant for the party.
        case foreign
        /// A mark is meant for the party but is fresh neither by its clock nor by its recent salts.
        case unproved
        /// A mark is fresh by the writer's clock.
        case period(Period)
        /// A mark echoes this salt of the party.
        case echo([UInt8])
    }

    /// The bytes in the TXT record.
    package let bytes: [UInt8]

    /// Creates marks from received bytes, or nil unless there are exactly 240.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = Array(bytes)
    }

    /// Creates the marks of one record. All their bytes differ in the next record, so comparing
    /// records does not reveal which places are marks.
    ///
    /// - Parameters:
    ///   - salt: the salt of the record.
    ///   - places: at most 30; the rest are omitted.
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
    ///   - salt: the salt of the record.
    ///   - endpoint: an endpoint of the record. Marks for other endpoints prove nothing for it.
    ///   - unixSeconds: the reader's wall clock.
    ///   - salts: the salts of the records that the reader sealed recently.
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

    /// The proofs after an id. Ids are not compared in constant time, because every host on the
    /// link can read them.
    private func proofs(for id: [UInt8]) -> [[UInt8]] {
        stride(from: 0, to: bytes.count, by: Self.markCount).compactMap { start in
            let place = bytes[start..<(start + Self.markCount)]
            return place.starts(with: id) ? Array(place.dropFirst(Self.idCount)) : nil
        }
    }
}
