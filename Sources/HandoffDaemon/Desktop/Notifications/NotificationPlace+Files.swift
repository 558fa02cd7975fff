import HandoffControl
import HandoffModel
import LoopIO

/// The progress and the results of what the user has chosen.
extension NotificationPlace {
    /// Records a failure to continue. For a file, the receiver may already have reported a better
    /// reason.
    mutating func failed(_ offer: NotificationOffer, reason: String) {
        fail(offer, arriving.remove(offer.activity), reason)
    }

    private mutating func fail(_ offer: NotificationOffer, _ file: ArrivingFiles.File?, _ reason: String) {
        rest()
        if file?.isCancelled ?? false { judge(offer.activity, .cancelled) }
        guard verdict(on: offer.activity) != .cancelled else { return }
        if offer.limit != nil, file?.received ?? 0 == 0 {
            // The user decides instead.
            return verdicts.removeAll { $0.activity == offer.activity }
        }
        note(offer, .failure(offer, reason: reason))
    }

    /// Records the result of a chosen file, as reported by the app that received it.
    ///
    /// - Parameters:
    ///   - app: The app that reports the result.
    ///   - end: The path of the file, or the reason why it was not saved, in one line.
    mutating func received(_ activity: ActivityID, by app: String, _ end: ReceivedEnd) {
        let isComplete = if case .saved = end { true } else { false }
        guard let file = arriving.remove(activity, by: app, isComplete: isComplete) else { return }
        switch end {
        case .failed(let reason): fail(file.offer, file, reason)
        case .saved(let path):
            rest()
            if saved.count >= Self.maxItems { saved.removeFirst() }
            saved.append(NotificationContent.SavedFile(offer: file.offer, path: path))
        }
    }

    /// Records the progress of a chosen file, as reported by the app that receives it.
    ///
    /// - Returns: the reply for the app; nil if the file was not chosen here.
    mutating func progressed(
        _ report: ReportProgressRequest, by app: String, now: MonotonicInstant
    ) -> ReportProgressReply? {
        let wasActive = arriving.isActive
        guard let reply = arriving.report(report, by: app) else { return nil }
        if !wasActive, shownFrom == nil { shownFrom = now + Self.progressDelay }
        return reply
    }

    /// Records the end of an app: the files that it was receiving have failed.
    mutating func sessionEnded(_ session: SessionID) {
        for file in arriving.remove(of: session) { fail(file.offer, file, "the app that received it has ended") }
        rest()
    }

    /// Cancels the files whose progress a notification shows.
    mutating func cancel(_ id: UInt32) {
        guard case .arriving? = displayed(id)?.content else { return }
        closed(id, byUser: true)
        for offer in arriving.cancel() { judge(offer.activity, .cancelled) }
        // The first one may have been started. Its app is notified at its next report.
        for offer in underway.dropFirst() where offer.isFile { _ = arriving.remove(offer.activity) }
        underway = Array(underway.prefix(1)) + underway.dropFirst().filter { !$0.isFile }
    }

    /// Resets the display of progress once nothing is in progress.
    mutating func rest() {
        if underway.isEmpty, !arriving.isActive { shownFrom = nil }
    }
}
