/// How an address of a device became known.
package enum CandidateSource: Sendable, Hashable, CaseIterable {
    /// A record of the service; anybody on the network can forge those.
    case mdns

    /// The source of a datagram or connection; the datagram may have been replayed from elsewhere.
    case datagram

    /// The user's configuration.
    case fixed
}
