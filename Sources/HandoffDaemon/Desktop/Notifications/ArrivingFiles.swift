import HandoffControl
import HandoffHandlers
import HandoffJSON
import HandoffModel

/// The files of a device that the user has accepted, until their results are known. Plain values.
struct ArrivingFiles: Sendable {
    /// A file, as the app that receives it reports it.
    struct File: Sendable {
        let offer: NotificationOffer
        /// The app's session; nil before its first report.
        var session: SessionID?
        /// The number of bytes that exist here.
        var received: Int64 = 0
        /// The total number of bytes; nil if unknown.
        var size: Int64?
        /// True if the user has cancelled it. Its app ends at its next report.
        var isCancelled = false

        var isActive: Bool { session != nil && !isCancelled }
    }

    /// The maximum number of files: the limit of one `handoffctl send`.
    private static let maxFiles = 32

    private var files: [File] = []
    /// The files that were completed while others were arriving.
    private var completed: [Int64] = []

    var isEmpty: Bool { files.isEmpty }

    /// True if a file is arriving.
    var isActive: Bool { files.contains(where: \.isActive) }

    /// Adds a file that the user has accepted.
    mutating func add(_ offer: NotificationOffer) {
        files.removeAll { $0.offer.activity == offer.activity }
        if files.count >= Self.maxFiles { files.removeFirst() }
        files.append(File(offer: offer))
    }

    /// Records the progress of a file.
    ///
    /// - Returns: the reply for the app; nil if the user has not accepted the file here.
    mutating func report(_ report: ReportProgressRequest, by app: String) -> ReportProgressReply? {
        guard let place = files.firstIndex(where: { $0.offer.activity == report.activity }) else { return nil }
        let offer = files[place].offer
        guard (offer.app?.text).hasSameBytes(as: app) else {
            // Another app must not receive an item that no user has accepted.
            return offer.limit == nil ? nil : ReportProgressReply(cancelled: true)
        }
        files[place].session = report.session
        files[place].received = report.received
        files[place].size = report.size
        return ReportProgressReply(cancelled: files[place].isCancelled, limit: offer.limit)
    }

    /// Marks all files as cancelled, and returns them.
    mutating func cancel() -> [NotificationOffer] {
        for place in files.indices { files[place].isCancelled = true }
        return files.map(\.offer)
    }

    /// Removes a file whose result is known.
    ///
    /// - Parameters:
    ///   - app: The app that must receive it; nil for any.
    ///   - isComplete: True if it is saved.
    mutating func remove(_ activity: ActivityID, by app: String? = nil, isComplete: Bool = false) -> File? {
        let place = files.firstIndex {
            $0.offer.activity == activity && (app == nil || ($0.offer.app?.text).hasSameBytes(as: app))
        }
        guard let place else { return nil }
        let file = files.remove(at: place)
        if isComplete, file.session != nil { completed.append(file.size ?? file.received) }
        if !isActive { completed = [] }
        return file
    }

    /// Removes the files of an app that has ended, and returns those that are not complete.
    mutating func remove(of session: SessionID) -> [File] {
        let ended = files.filter { $0.session == session }
        return ended.compactMap { remove($0.offer.activity) }.filter { $0.size == nil || $0.received != $0.size }
    }

    /// The progress of all files together; nil if none is arriving.
    ///
    /// - Parameter accepted: The accepted offers that may not have started to arrive.
    func progress(of accepted: [NotificationOffer]) -> NotificationContent.Progress? {
        let arriving = files.filter(\.isActive)
        guard !arriving.isEmpty else { return nil }
        let waiting = accepted.count { offer in
            offer.isFile && !arriving.contains { $0.offer.activity == offer.activity }
        }
        let sizes = arriving.compactMap(\.size)
        let isKnown = waiting == 0 && sizes.count == arriving.count
        return NotificationContent.Progress(
            offers: arriving.map(\.offer), completed: completed.count, waiting: waiting,
            received: Self.sum(arriving.map(\.received) + completed),
            size: isKnown ? Self.sum(sizes + completed) : nil)
    }

    /// The sum, limited to the maximum: other devices choose the sizes.
    private static func sum(_ numbers: [Int64]) -> Int64 {
        numbers.reduce(0) { sum, number in
            let (total, overflow) = sum.addingReportingOverflow(number)
            return overflow ? .max : total
        }
    }
}
