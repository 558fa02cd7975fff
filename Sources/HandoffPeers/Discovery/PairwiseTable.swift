package import HandoffAccount
import HandoffCrypto
package import HandoffModel
import HandoffProtocol
import HandoffState
import LoopIO

/// The party at the other end of a gate or of a mark.
package enum Party: Hashable, Sendable {
    /// A member.
    case device(DeviceID)
    /// The holder of the seed of the ticket with this id.
    case ticket(Fingerprint)
    /// A holder of the account key: a member that this device may not know yet.
    case keyHolder
}

/// One of the secrets of this device by which marks are written and read.
package struct PairwiseSecret: Hashable, Sendable {
    /// The other party; this device itself for the secret that a copy of its state folder has as
    /// well.
    package let party: Party
    /// True for the secret of the ticket with which this device is joining, false for that of its
    /// own key.
    package let isIntroduction: Bool

    package init(_ party: Party, isIntroduction: Bool = false) {
        self.party = party
        self.isIntroduction = isIntroduction
    }
}

/// The secrets that this device shares with every other member and every open ticket. Plain values;
/// on the daemon's loop.
///
/// Each is derived once, in about 0.1 ms. A device that is joining with a ticket shares the
/// ticket's secrets with the members too: some of them know the device already, and some do not.
struct PairwiseTable {
    private let own: SigningKey
    private var accountID: AccountID?
    private var secrets: [PairwiseSecret: PairwiseKeys] = [:]
    /// The keys that another machine with this device's identity has as well.
    private var ownKeys: PairwiseKeys?

    /// - Parameter own: the key of this device.
    init(own: SigningKey) {
        self.own = own
    }

    /// Applies a change of the account. A key that allows no agreement is left out: its owner is
    /// unreachable.
    mutating func accountChanged(_ snapshot: AccountSnapshot) {
        if snapshot.accountID != accountID { (secrets, ownKeys) = ([:], nil) }
        accountID = snapshot.accountID
        guard let accountID else { return }
        if ownKeys == nil { ownKeys = try? PairwiseKeys(device: own, device: own.publicKey, accountID: accountID) }
        let seed = snapshot.ticketSeed.flatMap { try? SigningKey(seed: $0) }
        let known = secrets
        secrets = [:]
        func add(_ secret: PairwiseSecret, _ derive: () throws -> PairwiseKeys) {
            secrets[secret] = known[secret] ?? (try? derive())
        }
        for device in snapshot.others {
            guard let key = snapshot.peerKey(device) else { continue }
            add(PairwiseSecret(.device(device))) { try PairwiseKeys(device: own, device: key, accountID: accountID) }
            guard let seed else { continue }
            add(PairwiseSecret(.device(device), isIntroduction: true)) {
                try PairwiseKeys(ticket: seed, device: key, accountID: accountID)
            }
        }
        for ticket in snapshot.openTickets {
            add(PairwiseSecret(.ticket(ticket.id))) {
                try PairwiseKeys(device: own, ticket: ticket.key, accountID: accountID)
            }
        }
    }

    /// The keys shared by this device's own key.
    var keys: [Party: PairwiseKeys] {
        secrets.reduce(into: [:]) { if !$1.key.isIntroduction { $0[$1.key.party] = $1.value } }
    }

    /// The keys shared with a party by this device's own key.
    subscript(_ party: Party) -> PairwiseKeys? { secrets[PairwiseSecret(party)] }

    /// Returns the keys by which a member may know this device: before joining first that of the
    /// ticket, then its own.
    ///
    /// - Returns: each with whether this device must introduce itself with its statements.
    func keys(for device: DeviceID) -> [(keys: PairwiseKeys, isIntroduction: Bool)] {
        [true, false].compactMap { isIntroduction in
            secrets[PairwiseSecret(.device(device), isIntroduction: isIntroduction)].map { ($0, isIntroduction) }
        }
    }

    /// Returns the keys of a secret; nil if it no longer exists.
    func keys(of secret: PairwiseSecret) -> PairwiseKeys? {
        let isOwn = secret == PairwiseSecret(.device(DeviceID(own.publicKey)))
        return isOwn ? ownKeys : secrets[secret]
    }
}
