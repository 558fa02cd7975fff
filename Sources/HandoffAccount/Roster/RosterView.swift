package import HandoffCrypto
package import HandoffModel

/// The members of an account, and everything else derived from its statements alone.
///
/// A pure function of the set: two devices with the same statements have the same view, in whatever
/// order the statements arrived. It is an immutable snapshot that other threads may read.
package struct RosterView: Sendable, Equatable {
    /// The account.
    package let accountID: AccountID
    /// The device that created the account. It may have been removed since.
    package let founder: DeviceID
    /// The devices that are members.
    package let live: Set<DeviceID>
    /// The devices and tickets that have been permanently removed.
    package let removed: Set<Fingerprint>
    /// SHA-256 of the ids of the removed devices in ascending order. An epoch record is valid only
    /// while it names this digest. Tickets are not included, so closing one ends no epoch.
    package let removedDigest: Fingerprint
    /// The current epoch, or nil until a new one is created.
    package let currentEpoch: EpochRecord?
    /// Names given to devices by members. They are neither unique nor an identity: show them with
    /// ``FixedBytes/short``.
    package let names: [DeviceID: String]
    /// Tickets that are not closed, ascending by id.
    package let openTickets: [OpenTicket]

    /// Keys of all devices ever admitted, including removed ones.
    let deviceKeys: [DeviceID: PublicKey]
    /// Greatest number among the valid epoch records; 0 if there are none.
    let greatestEpoch: UInt32
    /// Devices and tickets that a device admitted by its own statements, by device.
    let admissions: [Fingerprint: Set<Fingerprint>]
    /// The one device whose use of a ticket counts, by ticket, including closed tickets.
    let ticketUsers: [Fingerprint: DeviceID]
    /// Greatest counter of the names given by live devices, by subject.
    let nameCounters: [DeviceID: UInt32]

    /// Computes the view. All signers in `statements` must be known, as a ``Roster`` guarantees.
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
        // The greatest name is last and overwrites the others.
        self.names = names.reduce(into: [:]) { $0[$1.subject] = $1.text }
        nameCounters = names.reduce(into: [:]) { $0[$1.subject] = $1.rank.number }
        openTickets = rules.openTickets
        deviceKeys = rules.deviceKeys
        admissions = rules.admissions
        ticketUsers = rules.users.compactMapValues { $0.count == 1 ? $0.first?.device : nil }
    }
}

extension RosterView {
    /// The digest in an epoch record: SHA-256 of the ids of the removed devices in ascending order.
    static func removedDigest(of devices: some Sequence<Fingerprint>) -> Fingerprint {
        Fingerprint(checked: Roster.digest(of: devices))
    }

    /// The key of a device that was ever admitted, whether or not it is still a member.
    package func publicKey(of device: DeviceID) -> PublicKey? {
        deviceKeys[device]
    }

    /// Returns whether the device is a member.
    package func isLive(_ device: DeviceID) -> Bool {
        live.contains(device)
    }

    /// Returns whether the device is removed. It can never be readmitted with the same key.
    package func isRemoved(_ device: DeviceID) -> Bool {
        removed.contains(Fingerprint(device))
    }

    /// The number of members with a smaller id, or nil if the device is not a member.
    func rank(of device: DeviceID) -> Int? {
        guard live.contains(device) else { return nil }
        return live.count { $0 < device }
    }

    /// The members that `device` admitted, directly or by a ticket. Its removal excludes them
    /// unless it keeps them.
    package func admitted(by device: DeviceID) -> Set<DeviceID> {
        Set(subjects(admittedBy: device).map(\.device)).intersection(live)
    }

    /// The device that admitted a member, directly or by a ticket. Among several, the one with the
    /// smallest id, preferring members. Nil for the founder.
    package func admitter(of device: DeviceID) -> DeviceID? {
        guard device != founder else { return nil }
        let tickets = ticketUsers.filter { $0.value == device }.keys
        let signers = admissions.filter { _, subjects in
            subjects.contains(Fingerprint(device)) || tickets.contains { subjects.contains($0) }
        }.keys.map(\.device)
        return signers.filter(isLive).min() ?? signers.min()
    }

    /// The ids that a removal of `device` must list, ascending, so that `devices` remain members:
    /// their own ids, or those of the tickets that admitted them. Unused tickets are never kept,
    /// because their files may have been stolen.
    package func keeps(removing device: DeviceID, keeping devices: Set<DeviceID>) -> [Fingerprint] {
        subjects(admittedBy: device).filter { devices.contains($0.device) }.map(\.named).sorted()
    }

    /// The devices admitted by statements of `device`, each with the id that a removal must keep
    /// for it.
    private func subjects(admittedBy device: DeviceID) -> [(device: DeviceID, named: Fingerprint)] {
        (admissions[Fingerprint(device)] ?? []).compactMap { named in
            if deviceKeys[named.device] != nil { return (named.device, named) }
            return ticketUsers[named].map { ($0, named) }
        }
    }
}

/// A ticket that still admits the holder of its file. `account export` created it, and no member
/// has closed it.
package struct OpenTicket: Hashable, Sendable {
    /// The ticket.
    package let id: Fingerprint
    /// The key that signs its use.
    package let key: PublicKey
    /// The device that exported the account.
    package let issuer: DeviceID
    /// Devices that used it, ascending. A single device is admitted. If there are several, none is
    /// admitted, and their users must be notified.
    package let users: [DeviceID]
}
