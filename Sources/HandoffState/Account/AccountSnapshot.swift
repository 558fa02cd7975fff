package import HandoffAccount
package import HandoffCrypto
package import HandoffModel
package import HandoffProtocol

/// The account as the network needs it: an immutable snapshot, replaced at each change, that any
/// thread may read.
package final class AccountSnapshot: Sendable {
    /// This device.
    package let own: DeviceID
    /// The account, or nil without one and after this device's removal.
    package let accountID: AccountID?
    /// Keys of the epoch whose account key this device has, or nil without an account and after its
    /// removal.
    package let held: EpochKeys?
    /// The record of the epoch whose key is held. Two devices may each have created an epoch with
    /// the same number.
    package let heldRecord: Fingerprint?
    /// True if that epoch is the current one. Otherwise only statements and keys are exchanged.
    package let isCurrent: Bool
    /// The name of the current epoch in hello, or nil without its key.
    package let epochName: [UInt8]?
    /// Seed of the ticket with which this device is joining, or nil once it has joined.
    package let ticketSeed: SecretBytes?
    /// First 8 bytes of the roster's digest, or zeros without an account.
    package let rosterDigest: [UInt8]
    /// The names of the members: creates their labels and finds a member by a text.
    package let names: DeviceNames
    private let view: RosterView?

    /// Creates the snapshot of `state` for the device `own`. It is empty without an account.
    package init(own: DeviceID, state: AccountState?) {
        self.own = own
        let isMember = state?.view.isLive(own) ?? false
        accountID = isMember ? state?.accountID : nil
        held = isMember ? state?.held?.keys : nil
        heldRecord = isMember ? state?.held?.record : nil
        isCurrent = isMember && state?.isCurrent ?? false
        epochName = isCurrent ? state?.held?.name : nil
        ticketSeed = isMember ? state?.ticketSeed : nil
        rosterDigest = state?.roster.shortDigest ?? [UInt8](repeating: 0, count: Announcement.digestCount)
        let view = isMember ? state?.view : nil
        self.view = view
        let live = view.map { view in view.live.map { ($0, view.names[$0] ?? $0.short) } } ?? []
        names = DeviceNames(Dictionary(uniqueKeysWithValues: live))
    }

    /// Keys of the current epoch, or nil while nothing may be offered or served.
    package var current: EpochKeys? { isCurrent ? held : nil }

    /// The members.
    package var live: Set<DeviceID> { view?.live ?? [] }

    /// The other members.
    package var others: Set<DeviceID> { live.subtracting([own]) }

    /// Tickets that can still admit a device.
    package var openTickets: [OpenTicket] { view?.openTickets.filter(\.users.isEmpty) ?? [] }

    /// True if this device is in an account but has not received its key yet.
    package var isJoining: Bool { accountID != nil && held == nil }

    /// The key of a member other than this device.
    package func peerKey(_ id: DeviceID) -> PublicKey? {
        guard let view, id != own, view.isLive(id) else { return nil }
        return view.publicKey(of: id)
    }

    /// The key of any member, including this device: receiving its own adverts reveals a cloned
    /// state folder.
    package func memberKey(_ id: DeviceID) -> PublicKey? {
        guard let view, view.isLive(id) else { return nil }
        return view.publicKey(of: id)
    }

    /// Returns the seal of activities that `sender` sends to one device; nil if the other device is not a
    /// member.
    ///
    /// - Parameter key: of this device, which is the sender or the recipient.
    package func seal(
        with other: DeviceID, sender: DeviceID, key: SigningKey
    ) throws(CryptoError) -> KeptSeal? {
        guard let accountID, let otherKey = peerKey(other) else { return nil }
        return KeptSeal(try PairwiseKeys(device: key, device: otherKey, accountID: accountID), sender: sender)
    }

    /// Returns whether a certificate with this key belongs to another member.
    package func admits(_ key: PublicKey) -> Bool {
        peerKey(DeviceID(key))?.raw == key.raw
    }

    /// Returns whether the device with this certificate key may introduce itself.
    package func mayIntroduce(_ key: PublicKey) -> Bool {
        mayIntroduce(DeviceID(key))
    }

    /// Returns whether a device may introduce itself.
    package func mayIntroduce(_ id: DeviceID) -> Bool {
        guard let view else { return false }
        return id != own && !view.isRemoved(id)
    }

    /// The name that members gave a device, or the start of its id without a name.
    package func name(of id: DeviceID) -> String {
        view?.names[id] ?? id.short
    }

    /// The label of a device: its name, with the start of its id if another member has a similar
    /// name.
    package func label(of id: DeviceID) -> String {
        live.contains(id) ? names.label(of: id) : name(of: id)
    }

    /// Returns whether a label was created in the epoch whose key is held.
    package func isHeld(_ label: Label) -> Bool {
        held.map { label.isMember(labelKey: $0.label) } ?? false
    }

    /// Returns whether the label in an mDNS instance name was created in the epoch whose key is
    /// held.
    package func recognises(instance: String) -> Bool {
        Label(instanceName: instance).map(isHeld) ?? false
    }
}
