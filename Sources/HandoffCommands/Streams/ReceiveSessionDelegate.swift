/// The delegate of a receive session. Called on the loop's thread.
protocol ReceiveSessionDelegate: AnyObject {
    /// Content is arriving, and there is room for it.
    func receivingBegan()
    /// The content is complete at this path; nil for standard output.
    func received(_ path: String?)
    /// Receiving failed, before it began or later.
    func receivingFailed(_ failure: CommandFailure)
}
