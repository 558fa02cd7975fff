/// Limits how much kept content a receiver hashes again after broken connections, in proportion to
/// the bytes received.
///
/// Without the limit, a sender that cuts each connection after one byte could keep the receiver
/// hashing. Covers one content.
struct ComparisonBudget: Sendable {
    /// Bytes that may be hashed for each byte received.
    static let factor: Int64 = 16
    /// Bytes that may be hashed in any case: about one second of processor time.
    static let free: Int64 = 1 << 30

    /// True until the first comparison ends. That one covers the content kept by an earlier run and
    /// is not limited.
    private var isFirst = true
    private var compared: Int64 = 0
    private var arrived: Int64 = 0

    /// Counts received bytes of the content.
    mutating func arrived(_ bytes: Int64) {
        arrived = arrived.addingReportingOverflow(bytes).partialValue
    }

    /// Counts bytes that are about to be hashed.
    /// - Throws: `failed` if too few bytes have been received since the program started.
    mutating func compare(_ bytes: Int64) throws(TransferFailure) {
        guard !isFirst else { return }
        compared = compared.addingReportingOverflow(bytes).partialValue
        let limit = arrived.multipliedReportingOverflow(by: Self.factor)
        guard limit.overflow || compared - Self.free <= limit.partialValue else {
            throw TransferFailure(
                .failed,
                "the connection breaks so often that more is compared than received; run the command again to continue"
            )
        }
    }

    /// Ends a comparison, including an empty one.
    mutating func endComparison() { isFirst = false }
}
