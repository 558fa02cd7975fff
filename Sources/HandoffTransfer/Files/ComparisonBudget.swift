/// Bounds how much of what is kept a receiving program hashes again after cuts, by what arrived meanwhile.
///
/// Otherwise a sender that cuts each connection after a byte would keep the receiver hashing. A plain value, for one content.
struct ComparisonBudget: Sendable {
    /// Bytes that are hashed for each byte that arrived.
    static let factor: Int64 = 16
    /// Bytes that are hashed without that: about a second of processor time.
    static let free: Int64 = 1 << 30

    /// The comparison that the program starts with is of what an earlier run has left, and is not bounded.
    private var isFirst = true
    private var compared: Int64 = 0
    private var arrived: Int64 = 0

    /// Counts bytes of the content that arrived.
    mutating func arrived(_ bytes: Int64) {
        arrived = arrived.addingReportingOverflow(bytes).partialValue
    }

    /// Counts bytes that are to be hashed now.
    /// - Throws: `failed` when so many did not arrive since the program started.
    mutating func compare(_ bytes: Int64) throws(TransferFailure) {
        guard !isFirst else { return }
        compared = compared.addingReportingOverflow(bytes).partialValue
        let limit = arrived.multipliedReportingOverflow(by: Self.factor)
        guard limit.overflow || compared - Self.free <= limit.partialValue else {
            throw TransferFailure(
                .failed,
                "the connection was cut so often that more is compared than arrives; run the same command again to continue"
            )
        }
    }

    /// Ends a comparison, also one of nothing.
    mutating func endComparison() { isFirst = false }
}
