import HandoffTransfer

/// What a transfer's machine wants, done in order: what an action leads to comes after those that wait, and a failure takes
/// the place of all of them. Lives on the loop's thread.
final class TransferSteps<Action> {
    private var waiting: [Action] = []
    private var isPerforming = false

    /// Adds actions, and performs what waits unless that is being done already.
    /// - Parameters:
    ///   - run: does one action; it may add others.
    ///   - failed: what is to be done instead of the rest.
    func perform(
        _ more: [Action], run: (Action) throws(TransferFailure) -> Void, failed: (TransferFailure) -> [Action]
    ) {
        waiting += more
        guard !isPerforming else { return }
        isPerforming = true
        defer { isPerforming = false }
        while !waiting.isEmpty {
            let action = waiting.removeFirst()
            do throws(TransferFailure) {
                try run(action)
            } catch {
                waiting = failed(error)
            }
        }
    }
}
