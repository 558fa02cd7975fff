import LoopIO

struct KnownInstance: Sendable {
    struct HostAddress: Hashable, Sendable {
        let host: DomainName
        let address: IPAddress
    }

    /// The progress of resolving host, port and addresses.
    enum Resolution: Equatable, Sendable {
        /// The state until more browsers are available.
        case waiting
        /// The state while browsers run. `finished` contains the types for which Avahi expects no
        /// more responses soon.
        case running(round: UInt32, finished: Set<RecordQuery.Kind>)
        /// The state when an address is known and no more is expected.
        case done
    }

    /// True if the name was derived from the account's key.
    var isMember: Bool
    /// True if its records are queried: always, unless there are too many instances.
    var isChosen = false
    /// The sequence number of its appearance or last selection. While not all instances are
    /// browsed, unknown devices take turns.
    var turn: UInt64
    /// The round of its text query. Each selection gets a new browser, which reports everything
    /// again.
    var textRound: UInt32 = 0
    /// The links on which its PTR record is present. Empty after Avahi was lost, until the record
    /// reappears or is swept.
    var links: Set<RecordLink> = []
    var texts = ObservedRecords<[[UInt8]]>(cap: 16)
    var targets = ObservedRecords<ServiceTarget>(cap: 16)
    var addresses = ObservedRecords<HostAddress>(cap: 64)
    var resolution = Resolution.waiting
    /// The record types received in packets since it appeared or was last due for a query.
    var receivedKinds: Set<RecordQuery.Kind> = []
    /// The number of times that it was preempted, unresolved, by others waiting for browsers.
    var attempts = 0
    /// The last report to the owner; nil if there was none.
    var reported: DiscoveredService?
    /// True if the owner must get a report even without a change, because Avahi has returned and
    /// confirms it.
    var mustReport = false

    /// True if host, port, an address and the text were received, so that no query is needed.
    var isComplete: Bool {
        receivedKinds.isSuperset(of: [.text, .target]) && !receivedKinds.isDisjoint(with: [.ipv4, .ipv6])
    }

    /// Drops all records except the PTR records.
    mutating func forgetRecords() {
        texts.removeAll()
        targets.removeAll()
        addresses.removeAll()
        receivedKinds = []
        resolution = .waiting
    }
}
