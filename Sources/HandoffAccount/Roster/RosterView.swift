package import HandoffCrypto
package import HandoffModel

/// Who is a member of an account, and all else that follows from its statements alone.
///
/// A pure function of the set: two devices with the same statements have the same view, whatever the order in which
/// they heard of them. It is an immutable snapshot, fit to be read by other threads.
package struct RosterView: Sendable, Equatable {
    /// The account.
    package let accountID: AccountID
    /// The device that made the account; it may have been removed since.
    package let founder: DeviceID
    /// The devices that are members.
    package let live: Set<DeviceID>
    /// The devices and tickets that are removed, for ever.
    package let removed: Set<Fingerprint>
    /// SHA-256 of the ids of the removed devices in ascending order; an epoch record counts only while it names this. Tickets
    /// play no part, so that closing one ends no epoch.
    package let removedDigest: Fingerprint
    /// The epoch that holds, or nil while a new one has to be made.
    package let currentEpoch: EpochRecord?
    /// Names of devices by the members; not unique, and no identity: show them with ``FixedBytes/short``.
    package let names: [DeviceID: String]
    /// Tickets that are not closed, ascending by id.
    package let openTickets: [OpenTicket]

    /// Keys of all devices that were ever admitted, removed ones included.
    let deviceKeys: [DeviceID: PublicKey]
    /// Greatest number of the epoch records that count; 0 without any.
    let greatestEpoch: UInt32
    /// By device: whom it admitted by its own statement, devices and tickets.
    let admissions: [Fingerprint: Set<Fingerprint>]
    /// By ticket: the one device whose use of it counts; closed tickets too.
    let ticketUsers: [Fingerprint: DeviceID]
    /// Greatest counter of the names by live devices, by subject.
    let nameCounters: [DeviceID: UInt32]

    /// Computes the view; all signers in `statements` must be known, as a ``Roster`` guarantees.
    init(accountID: AccountID, founder: PublicKey, statements: some Sequence<Statement>) {
        let rules = RosterRules(founder: founder, statements: statements)
        let removedDevices = rules.deviceKeys.keys.map { Fingerprint($0) }.filter(rules.removed.contains)
        let removedDigest = Self.removedDigest(of: removedDevices)
        let epochs = rules.epochs.filter { rules.live.contains($0.signer) && $0.removedDigest == removedDigest }
        let names = rules.names.filter { rules.live.contains($0.signer) }.sorted { $0.rank < $1.rank }

        self.accountID = accountID
        self.founder = DeviceID(founder)
        live = rules.live
        removed = rules.removed
        self.removedDigest = removedDigest
        currentEpoch = epochs.max()
        greatestEpoch = currentEpoch?.n ?? 0
        // The greatest comes last, and overwrites.
        self.names = names.reduce(into: [:]) { $0[$1.subject] = $1.text }
        nameCounters = names.reduce(into: [:]) { $0[$1.subject] = $1.rank.number }
        openTickets = rules.openTickets
        deviceKeys = rules.deviceKeys
        admissions = rules.admissions
        ticketUsers = rules.users.compactMapValues { $0.count == 1 ? $0.first?.device : nil }
    }
}

extension RosterView {
    /// What an epoch record names: SHA-256 of the ids of the removed devices in ascending order.
    static func removedDigest(of devices: some Sequence<Fingerprint>) -> Fingerprint {
        Fingerprint(checked: Roster.digest(of: devices))
    }

    /// The key of a device that was ever admitted, a member or not.
    package func publicKey(of device: DeviceID) -> PublicKey? {
        deviceKeys[device]
    }

    /// Whether the device is a member.
    package func isLive(_ device: DeviceID) -> Bool {
        live.contains(device)
    }

    /// Whether the device is removed: then it never comes back with this key.
    package func isRemoved(_ device: DeviceID) -> Bool {
        removed.contains(Fingerprint(device))
    }

    /// How many members have a smaller id, 0 for the smallest; nil when the device is no member.
    package func rank(of device: DeviceID) -> Int? {
        guard live.contains(device) else { return nil }
        return live.count { $0 < device }
    }

    /// Members that `device` admitted, by itself or by a ticket: whom its removal leaves out unless they are kept.
    package func admitted(by device: DeviceID) -> Set<DeviceID> {
        Set(subjects(admittedBy: device).map(\.device)).intersection(live)
    }

    /// Who let a member in, by itself or by a ticket; of several a member if possible, with the smallest id. Nil for the
    /// founder.
    package func admitter(of device: DeviceID) -> DeviceID? {
        guard device != founder else { return nil }
        let tickets = ticketUsers.filter { $0.value == device }.keys
        let signers = admissions.filter { _, subjects in
            subjects.contains(Fingerprint(device)) || tickets.contains { subjects.contains($0) }
        }.keys.map(\.device)
        return signers.filter(isLive).min() ?? signers.min()
    }

    /// What a removal of `device` has to list, ascending, so that the members `devices` stay: themselves, or the ticket
    /// by which they came. Tickets that were not used are never kept, as their file may be in the wrong hands.
    package func keeps(removing device: DeviceID, keeping devices: Set<DeviceID>) -> [Fingerprint] {
        subjects(admittedBy: device).filter { devices.contains($0.device) }.map(\.named).sorted()
    }

    /// Whom the statements of `device` admitted, with the id that a removal has to keep for each.
    private func subjects(admittedBy device: DeviceID) -> [(device: DeviceID, named: Fingerprint)] {
        (admissions[Fingerprint(device)] ?? []).compactMap { named in
            if deviceKeys[named.device] != nil { return (named.device, named) }
            return ticketUsers[named].map { ($0, named) }
        }
    }
}

/// A ticket that still admits whoever holds its file: `account export` made it, and no member has closed it.
package struct OpenTicket: Hashable, Sendable {
    /// The ticket.
    package let id: Fingerprint
    /// The key that signs its use.
    package let key: PublicKey
    /// The device that exported the account.
    package let issuer: DeviceID
    /// Devices that used it, ascending. One is admitted; of several none is, and their users have to be told.
    package let users: [DeviceID]
}
