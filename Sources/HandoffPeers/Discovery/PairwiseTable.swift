package import HandoffAccount
package import HandoffCrypto
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
package struct PairwiseTable {
    private let own: SigningKey
    private var accountID: AccountID?
    private var seed: SecretBytes?
    /// The keys shared by this device's own key.
    package private(set) var keys: [Party: PairwiseKeys] = [:]
    /// The keys that this device shares with each member as the holder of the ticket.
    private var ticketKeys: [DeviceID: PairwiseKeys] = [:]
    /// The keys that another machine with this device's identity has as well.
    private var ownKeys: PairwiseKeys?

    /// - Parameter own: the key of this device.
    package init(own: SigningKey) {
        self.own = own
    }

    /// Applies a change of the account. A key that allows no agreement is left out: its owner is
    /// unreachable.
    mutating func accountChanged(_ snapshot: AccountSnapshot) {
        if snapshot.accountID != accountID { (keys, ticketKeys, ownKeys) = ([:], [:], nil) }
        accountID = snapshot.accountID
        guard let accountID else { return }
        if ownKeys == nil { ownKeys = try? PairwiseKeys(device: own, device: own.publicKey, accountID: accountID) }
        var wanted: [Party: PublicKey] = [:]
        for device in snapshot.others { wanted[.device(device)] = snapshot.peerKey(device) }
        for ticket in snapshot.openTickets { wanted[.ticket(ticket.id)] = ticket.key }
        keys = keys.filter { wanted[$0.key] != nil }
        for (party, key) in wanted where keys[party] == nil {
            switch party {
            case .device: keys[party] = try? PairwiseKeys(device: own, device: key, accountID: accountID)
            case .ticket: keys[party] = try? PairwiseKeys(device: own, ticket: key, accountID: accountID)
            case .keyHolder: break
            }
        }
        takeTicket(snapshot, accountID)
    }

    private mutating func takeTicket(_ snapshot: AccountSnapshot, _ accountID: AccountID) {
        guard let ticket = snapshot.ticketSeed.flatMap({ try? SigningKey(seed: $0) }) else {
            ticketKeys = [:]
            return
        }
        ticketKeys = ticketKeys.filter { snapshot.others.contains($0.key) }
        for device in snapshot.others where ticketKeys[device] == nil {
            ticketKeys[device] = snapshot.peerKey(device).flatMap {
                try? PairwiseKeys(ticket: ticket, device: $0, accountID: accountID)
            }
        }
    }

    /// Returns the keys by which a member may know this device: before joining first that of the
    /// ticket, then its own.
    ///
    /// - Returns: each with whether this device must introduce itself with its statements.
    func keys(for device: DeviceID) -> [(keys: PairwiseKeys, isIntroduction: Bool)] {
        var all = ticketKeys[device].map { [($0, true)] } ?? []
        if let own = keys[.device(device)] { all.append((own, false)) }
        return all
    }

    /// Returns the keys of a secret; nil if it no longer exists.
    func keys(of secret: PairwiseSecret) -> PairwiseKeys? {
        if case .device(let device) = secret.party {
            if secret.isIntroduction { return ticketKeys[device] }
            if device == DeviceID(own.publicKey) { return ownKeys }
        }
        return keys[secret.party]
    }
}
