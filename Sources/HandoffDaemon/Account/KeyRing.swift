import HandoffAccount
import HandoffCrypto
import HandoffModel
import HandoffProtocol

/// What the network needs to know of the account: an immutable snapshot, made anew at each change, that any thread may
/// read.
struct KeyRing: Sendable {
    /// This device.
    let own: DeviceID
    /// The account; nil without one, and after this device's removal.
    let accountID: AccountID?
    /// Keys of the epoch whose account key this device has; nil without an account, and after its removal.
    let held: EpochKeys?
    /// Tells the held epoch from every other: two devices may each have made an epoch of one number. The beginning of
    /// the id of its record; nil when none is held.
    let epochMark: UInt64?
    /// Whether that epoch is the one that holds; otherwise only statements and keys are exchanged.
    let isCurrent: Bool
    /// Keys that find members which were away.
    let former: [FormerEpoch]
    /// First 8 bytes of the roster's digest; zeros without an account.
    let rosterDigest: [UInt8]
    private let view: RosterView?

    /// What `state` says to the device `own`; nothing without an account.
    init(own: DeviceID, state: AccountState?) {
        self.own = own
        let isMember = state?.view.isLive(own) ?? false
        accountID = isMember ? state?.accountID : nil
        held = isMember ? state?.held?.keys : nil
        epochMark = isMember ? state?.held.map { Self.mark(of: $0.record) } : nil
        isCurrent = isMember && state?.isCurrent ?? false
        former = isMember ? state?.formerEpochs ?? [] : []
        rosterDigest = state?.roster.shortDigest ?? [UInt8](repeating: 0, count: Announcement.digestCount)
        view = isMember ? state?.view : nil
    }

    /// Keys of the epoch that holds; nil while nothing may be offered or served.
    var current: EpochKeys? { isCurrent ? held : nil }

    /// The members.
    var live: Set<DeviceID> { view?.live ?? [] }

    /// The key of a member other than this device.
    func peerKey(_ id: DeviceID) -> PublicKey? {
        guard let view, id != own, view.isLive(id) else { return nil }
        return view.publicKey(of: id)
    }

    /// The key of any member, this device included: adverts of its own show a cloned state folder.
    func memberKey(_ id: DeviceID) -> PublicKey? {
        guard let view, view.isLive(id) else { return nil }
        return view.publicKey(of: id)
    }

    /// Whether a certificate with this key is that of another member.
    func admits(_ key: PublicKey) -> Bool {
        peerKey(DeviceID(key))?.raw == key.raw
    }

    /// Whether a certificate with this key may be introduced: nobody here knows it.
    func mayIntroduce(_ key: PublicKey) -> Bool {
        mayIntroduce(DeviceID(key))
    }

    /// Whether a device may be introduced.
    func mayIntroduce(_ id: DeviceID) -> Bool {
        guard let view else { return false }
        return id != own && !view.isRemoved(id)
    }

    /// The name that the members gave a device; the beginning of its id when there is none.
    func name(of id: DeviceID) -> String {
        view?.names[id] ?? id.short
    }

    /// The gate key for a server under `label`, and whether it is that of the held epoch or of one in which the server
    /// was left behind.
    func gate(for label: Label) -> (isHeld: Bool, key: SecretBytes)? {
        if let held, label.isMember(labelKey: held.label) { return (true, held.gate) }
        return former.last { label.isMember(labelKey: $0.label) }.map { (false, $0.gate) }
    }

    /// Whether a label was made in the epoch that is held.
    func isHeld(_ label: Label) -> Bool {
        held.map { label.isMember(labelKey: $0.label) } ?? false
    }

    /// Whether an mDNS instance of this name belongs to the account, in the epoch that is held or a former one.
    func recognises(instance: String) -> Bool {
        Label(instanceName: instance).flatMap(gate(for:)) != nil
    }

    private static func mark(of record: Fingerprint) -> UInt64 {
        record.bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
