/// What became of a request of this side.
package enum RequestOutcome: Sendable, Equatable {
    /// The other side answered.
    case answered(PeerResponse.Outcome)

    /// It did not answer in time; a later answer is ignored.
    case timedOut

    /// The connection ended before the answer, or may not carry requests.
    case lost
}
