import LoopIO

/// What is known of one instance name.
struct KnownInstance: Sendable {
    /// An address of a host.
    struct HostAddress: Hashable, Sendable {
        let host: DomainName
        let address: IPAddress
    }

    /// How far finding host, port and addresses is.
    enum Resolution: Equatable, Sendable {
        /// The state until there is room for more browsers.
        case waiting
        /// The state while browsers ask; the kinds of which Avahi expects no more answers soon.
        case running(round: UInt32, finished: Set<RecordQuery.Kind>)
        /// The state once an address is known and nothing more is expected.
        case done
    }

    /// Whether the account's key made the name.
    var isMember: Bool
    /// Whether its records are asked for: always, unless there are too many instances.
    var isChosen = false
    /// When it appeared or was last chosen, as the number of that event: while not all are browsed, strangers take turns.
    var turn: UInt64
    /// The round of its text query. Every time it is chosen gets a browser of its own, which reports all again.
    var textRound: UInt32 = 0
    /// Where its PTR record is seen. Empty after Avahi was lost, until it is seen again or swept.
    var links: Set<RecordLink> = []
    var texts = Sightings<[[UInt8]]>(cap: 16)
    var targets = Sightings<ServiceTarget>(cap: 16)
    var addresses = Sightings<HostAddress>(cap: 64)
    var resolution = Resolution.waiting
    /// What the packets of the network said by themselves since it appeared, or was last to be asked for.
    var heard: Set<RecordQuery.Kind> = []
    /// How often it gave way, unresolved, to others that wait for browsers.
    var attempts = 0
    /// What the owner was told last; nil if nothing.
    var announced: DiscoveredService?
    /// Whether the owner must be told even without a change: Avahi is back and confirms it.
    var mustAnnounce = false

    /// Whether host, port, an address and the text were heard: then there is nothing to ask for.
    var isHeard: Bool {
        heard.isSuperset(of: [.text, .target]) && !heard.isDisjoint(with: [.ipv4, .ipv6])
    }

    /// Forgets all records but the PTR ones.
    mutating func forgetRecords() {
        texts.removeAll()
        targets.removeAll()
        addresses.removeAll()
        heard = []
        resolution = .waiting
    }
}
