package import HandoffModel

/// All that is known of another device that is there.
package struct Peer: Sendable, Equatable {
    /// Who it is.
    package let deviceID: DeviceID

    /// The label that datagrams to it are sealed for; nil while only a connection made it known without one.
    package internal(set) var label: Label?

    /// The label before that, whose records may still be about.
    package internal(set) var previousLabel: Label?

    /// Number of its present start.
    package internal(set) var boot: UInt64

    /// Number of its latest change that was heard; nil before the first announcement of this start.
    package internal(set) var seq: UInt32?

    /// Number of the change since which its activities are the same, as it last said; nil while it has not said.
    var listSeq: UInt32?

    /// Number of the change as of which its whole list of activities is known; nil while it is not.
    var listedSeq: UInt32?

    /// UDP and TCP port that it listens on.
    package internal(set) var port: UInt16

    /// What sort of machine it is.
    package internal(set) var kind: DeviceKind

    /// First 8 bytes of the digest of its roster.
    package internal(set) var rosterDigest: [UInt8]

    /// What it offers, most recent first.
    package internal(set) var offers: [PeerOffer] = []

    /// Where it may be.
    package internal(set) var candidates = CandidateSet()

    /// mDNS instances that were seen of it and have not gone.
    package internal(set) var instances: Set<String> = []

    /// The latest advert of this device that it has acknowledged.
    package internal(set) var acknowledged: Position?

    /// Open and accepted connections to it.
    package internal(set) var connectionCount = 0

    /// When its present announcement was first heard, or it last spoke over a connection.
    package internal(set) var renewed: BootInstant

    /// Most mDNS instances that are remembered of one device; labels change every 15 minutes at the earliest.
    static let maximumInstances = 8

    /// Most offers that are kept of one device: more than anyone picks from, and few enough for one answer to a client.
    static let maximumOffers = 256

    /// False while it may offer more than is known.
    package var isComplete: Bool {
        guard let listedSeq, let listSeq else { return false }
        return listedSeq >= listSeq
    }

    /// True while mDNS shows the service under its present label.
    package var isAnnounced: Bool {
        guard let label else { return false }
        return instances.contains(label.instanceName)
    }
}
