/// An address where a device may be.
package struct Candidate: Sendable, Equatable {
    /// Host and port to try.
    package let address: PeerAddress

    /// How it became known; empty once nothing says it any more.
    package internal(set) var sources: Set<CandidateSource>

    /// When the device last proved that it is there, by a TLS handshake or an acknowledged advert; nil if never, or
    /// since a try failed.
    package internal(set) var proved: BootInstant?

    /// When it became known.
    let added: BootInstant
}
