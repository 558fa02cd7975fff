package import HandoffAccount
package import HandoffCrypto
package import HandoffModel
package import HandoffProtocol
package import HandoffState
package import LoopIO

/// The marks by which this device and missing members find each other. A member is missing until it
/// has proved that it is in the same epoch (`PeerRecord.isInSameEpoch`). Plain values.
///
/// Devices in different epochs do not recognise each other's labels. Each missing member gets a
/// mark beside the beacon, and a reader of a foreign record looks for its own mark. The holder of
/// an open ticket gets one too. A mark counts for one address of the record, and only while it is
/// fresh: a record that another host copies leads nowhere.
package struct MissingMembers {
    /// A member that has left a fresh mark for this device, with the keys of the mark, whether this
    /// device must introduce itself with them, the marked addresses of the record, and the time at
    /// which the marks expire.
    package struct Author {
        package let device: DeviceID
        package let keys: PairwiseKeys
        package let isIntroduction: Bool
        package let addresses: [SocketAddress]
        package let expires: MonotonicInstant
    }

    /// The parts of a found record on which marks depend.
    package struct Record: Equatable {
        package let label: Label
        package let marks: Marks
        package let salt: [UInt8]
        package let addresses: [SocketAddress]

        /// - Parameter found: the marks and the salt in the record's text.
        package init(label: Label, _ found: (marks: Marks, salt: [UInt8]), addresses: [SocketAddress]) {
            self.label = label
            marks = found.marks
            salt = found.salt
            self.addresses = addresses
        }
    }

    /// The result of reading a record.
    package struct Look {
        /// The member that made the record with a fresh mark for this device.
        package var author: Author?
        /// True if the holder of an open ticket echoes a record of this device in it, and waits for
        /// an echo of its own. Only a holder that is online now can have made it.
        package var isAwaited = false
    }

    /// The present moment by both clocks.
    package struct Moment {
        package let instant: MonotonicInstant
        package let unixSeconds: Int64

        package init(instant: MonotonicInstant, unixSeconds: Int64) {
            self.instant = instant
            self.unixSeconds = unixSeconds
        }
    }

    /// The maximum number of record addresses to read per second. Each costs a hash for every
    /// member. The rest are read a little later.
    private static let maxReadsPerSecond: UInt64 = 128
    /// The maximum number of places for marks that echoes may take while other marks wait. The
    /// salts of old records that another host repeats must not displace all others.
    static let maxEchoPlaces = 20

    /// The secrets shared with each party.
    private(set) var pairwise: PairwiseTable
    /// True if the last record had no room for the mark of some open ticket, so that another record
    /// must follow.
    package private(set) var leavesTicketsOut = false
    private var snapshot: AccountSnapshot
    private var looks: [String: (record: Record, author: Author?)] = [:]
    private var echoes = Echoes()
    private var budget = RateLimit(perSecond: maxReadsPerSecond)

    /// - Parameter own: the key of this device.
    package init(own: SigningKey, _ snapshot: AccountSnapshot) {
        pairwise = PairwiseTable(own: own)
        self.snapshot = snapshot
        pairwise.accountChanged(snapshot)
    }

    /// Applies a change of the account.
    package mutating func accountChanged(_ snapshot: AccountSnapshot) {
        pairwise.accountChanged(snapshot)
        // A new member may have been judged as an unknown device.
        if snapshot.others != self.snapshot.others || snapshot.accountID != self.snapshot.accountID { looks = [:] }
        self.snapshot = snapshot
        echoes.retain { [pairwise] in pairwise.keys(of: $0) != nil }
    }

    // MARK: - Writing

    /// Notes the salt of a record of this device, of which others may return an echo.
    package mutating func sealed(_ salt: [UInt8], at now: MonotonicInstant) {
        echoes.sealed(salt, at: now)
    }

    /// Returns the marks of the next record: echoes for the parties whose clocks differ, and marks
    /// for missing members and open tickets; a random choice if there are too many. A joining
    /// device only echoes: it accepts no calls.
    ///
    /// - Parameters:
    ///   - endpoints: those of this device, as ``Marks/endpoint(_:port:)`` makes them.
    ///   - known: the online devices. They are last, since they have found this one.
    ///   - found: the members that have proved that they are in the same epoch.
    package mutating func places(
        for endpoints: [[UInt8]], known: Set<DeviceID>, found: Set<DeviceID>, at moment: Moment
    ) -> [Marks.Place] {
        let plain = Freshness.period(Period(unixSeconds: moment.unixSeconds))
        let missing = snapshot.others.subtracting(found).map { Party.device($0) }
        let tickets = snapshot.openTickets.map { Party.ticket($0.id) }
        let wanted = snapshot.isJoining ? [] : missing + tickets
        let marks = wanted.compactMap { pairwise[$0] }.flatMap { keys in
            endpoints.map { Marks.Place(keys: keys, endpoint: $0, freshness: plain) }
        }
        // First the newest salt of each party that is not online, then older ones, then all others.
        var echoed: [[Marks.Place]] = [[], [], []]
        for (secret, salts) in echoes.salts(at: moment.instant) {
            guard let keys = pairwise.keys(of: secret) else { continue }
            var isKnown = false
            if case .device(let device) = secret.party { isKnown = known.contains(device) }
            for (index, salt) in salts.enumerated() {
                echoed[isKnown ? 2 : min(index, 1)] += endpoints.map {
                    Marks.Place(keys: keys, endpoint: $0, freshness: .echo(salt, number: index + 1))
                }
            }
        }
        let room = max(Marks.places - marks.count, Self.maxEchoPlaces)
        let chosen = echoed.flatMap { $0.shuffled() }.prefix(room)
        // Independent of the echoes: another host can cause those, and must not see that it changes
        // when records are sealed.
        leavesTicketsOut = !tickets.isEmpty && marks.count > Marks.places - Self.maxEchoPlaces
        return Array(chosen) + marks.shuffled().prefix(Marks.places - chosen.count)
    }

    // MARK: - Reading

    /// Judges whether the opened record of a party is fresh, by its period or by an echo. One that
    /// is not fresh by its period is echoed from now on.
    ///
    /// - Parameter record: nil if the record has no marks.
    package mutating func isFresh(
        _ period: Period, of device: DeviceID, salt: [UInt8], _ record: Record?, at moment: Moment
    ) -> (isFresh: Bool, isTimely: Bool) {
        let secret = PairwiseSecret(.device(device))
        guard period.validity(at: moment.unixSeconds) == nil else {
            echoes.forget(secret)
            return (true, true)
        }
        echoes.note(salt, of: secret, at: moment.instant)
        guard let record, let keys = pairwise.keys(of: secret) else { return (false, false) }
        let salts = echoes.ownSalts(at: moment.instant)
        let isEchoed = record.addresses.contains { address in
            if case .echo = read(record, address, with: keys, moment, salts) { true } else { false }
        }
        return (isEchoed, false)
    }

    /// Reads a foreign record.
    ///
    /// Members received in this epoch are included: they may have created another epoch since.
    ///
    /// - Throws: `ReadLimitExceeded` if it must be read again later.
    package mutating func look(
        at instance: String, _ record: Record, at moment: Moment
    ) throws(ReadLimitExceeded) -> Look {
        if let look = looks[instance], look.record == record {
            return Look(author: look.author.flatMap { moment.instant < $0.expires ? $0 : nil })
        }
        let weight = Double(max(record.addresses.count, 1))
        guard budget.admit(weight: weight, at: moment.instant) else { throw ReadLimitExceeded() }
        let author = author(of: record, at: moment)
        looks[instance] = (record, author)
        return Look(author: author, isAwaited: author == nil && isEchoedByTicket(record, at: moment))
    }

    /// Too many records were read within a second.
    package struct ReadLimitExceeded: Error {}

    private mutating func author(of record: Record, at moment: Moment) -> Author? {
        let salts = echoes.ownSalts(at: moment.instant)
        for device in snapshot.others {
            for (keys, isIntroduction) in pairwise.keys(for: device) {
                let secret = PairwiseSecret(.device(device), isIntroduction: isIntroduction)
                var proved: [SocketAddress] = []
                var expires = moment.instant
                for address in record.addresses {
                    let reading = read(record, address, with: keys, moment, salts)
                    switch reading {
                    case .foreign: continue
                    case .unproved, .echo: echoes.note(record.salt, of: secret, at: moment.instant)
                    case .period: echoes.forget(secret)
                    }
                    guard let end = expiry(of: reading, at: moment) else { continue }
                    proved.append(address)
                    expires = max(expires, end)
                }
                guard proved.isEmpty else {
                    return Author(
                        device: device, keys: keys, isIntroduction: isIntroduction, addresses: proved,
                        expires: expires)
                }
            }
        }
        return nil
    }

    private mutating func isEchoedByTicket(_ record: Record, at moment: Moment) -> Bool {
        let salts = echoes.ownSalts(at: moment.instant)
        for ticket in snapshot.openTickets.map(\.id) {
            guard let keys = pairwise[.ticket(ticket)] else { continue }
            for address in record.addresses {
                guard case .echo = read(record, address, with: keys, moment, salts) else { continue }
                return echoes.note(record.salt, of: PairwiseSecret(.ticket(ticket)), at: moment.instant)
            }
        }
        return false
    }

    private func read(
        _ record: Record, _ address: SocketAddress, with keys: PairwiseKeys, _ moment: Moment, _ salts: [[UInt8]]
    ) -> Marks.Reading {
        record.marks.read(
            with: keys, under: record.label, salt: record.salt,
            endpoint: Marks.endpoint(address.address.bytes, port: address.port), unixSeconds: moment.unixSeconds,
            salts: salts)
    }

    /// Returns the expiration of a mark; nil if it is not fresh.
    private func expiry(of reading: Marks.Reading, at moment: Moment) -> MonotonicInstant? {
        switch reading {
        case .foreign, .unproved: return nil
        case .echo(let salt): return echoes.expiry(of: salt)
        case .period(let period):
            guard let left = period.validity(at: moment.unixSeconds) else { return nil }
            return moment.instant.advanced(by: min(.seconds(left), Echoes.lifetime))
        }
    }

    /// Returns the instances that have a mark of a member for this device.
    func instances(of device: DeviceID) -> [String] {
        looks.filter { $0.value.author?.device == device }.map(\.key)
    }

    /// Forgets an instance that has ended or is above the limit.
    mutating func forget(_ instance: String) {
        looks[instance] = nil
    }
}
