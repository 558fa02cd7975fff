/// Who has a session receive something. On the loop's thread.
protocol ReceiveSessionDelegate: AnyObject {
    /// Content comes, and there is room for it.
    func receivingBegan()
    /// It is complete, at this path; nil: it went to standard output.
    func received(_ path: String?)
    /// It came to nothing, before it began or later.
    func receivingFailed(_ failure: CommandFailure)
}
