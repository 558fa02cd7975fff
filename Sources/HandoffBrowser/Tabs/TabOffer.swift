import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel
import LoopIO

/// Offers the open tabs to the other devices of the account, as an activity in a separate session
/// beside the page in front. The activity only announces that there are tabs. The list is requested
/// for each stream. Lives on the loop's thread.
final class TabOffer {
    /// The maximum number of streams that wait for the extension, one per popup.
    private static let maxWaiting = 16

    private let loop: EventLoop
    private let path: String
    private let attachment: AppAttachment
    private weak var host: BrowserHost?
    private var lastRequest = 0
    private var waiting: [Int: StreamID] = [:]
    /// The connections of streams being opened.
    private var opening: [ObjectIdentifier: ControlClient] = [:]

    /// - Parameters:
    ///   - app: The id that the browser attaches with.
    ///   - host: Requests the open tabs from the extension; `answer` receives them with the same
    ///     number.
    init(path: String, loop: EventLoop, app: String, host: BrowserHost) {
        self.loop = loop
        self.path = path
        self.host = host
        attachment = AppAttachment(path: path, loop: loop, app: AttachRequest(app: app))
    }

    /// Offers the tabs until `stop` is called or the connection to the daemon is lost.
    func start() {
        attachment.start { [weak self] report in
            switch report {
            case .attached: self?.publish()
            case .event(.stream(_, let stream, _, nil)): self?.serve(stream)
            // The owner creates a new offer when the daemon is available again.
            case .lost, .failed: self?.attachment.stop()
            case .event, .notDeclared: break
            }
        }
    }

    /// Ends the offer.
    func stop() {
        attachment.stop()
        for client in opening.values { client.close() }
        opening = [:]
        waiting = [:]
    }

    /// Sends the open tabs for a request.
    func answer(_ tabs: [OpenTab], request: Int) {
        guard let stream = waiting.removeValue(forKey: request), let client = try? ControlClient(path: path, loop: loop)
        else { return }
        let key = ObjectIdentifier(client)
        opening[key] = client
        let bytes = OpenTab.json(tabs).encoded()
        client.openStream(.stream(stream)) { [weak self] result in
            self?.opening[key] = nil
            guard case .success(let stream) = result else { return }
            stream.write(bytes)
            stream.finish()
        }
    }

    private func publish() {
        var activity = ActivityDescription(type: OpenTab.activityType)
        activity.title = "Open tabs"
        activity.supportsContinuationStreams = true
        activity.needsSave = false
        activity.expirationDate = ActivityDescription.neverExpires
        // Refusals are ignored: there is nothing to offer then.
        attachment.publishAsCurrent(activity) { _ in }
    }

    private func serve(_ stream: StreamID) {
        // The daemon refuses further streams after a timeout.
        guard waiting.count < Self.maxWaiting else { return }
        lastRequest += 1
        waiting[lastRequest] = stream
        host?.post(.listTabs(request: lastRequest))
    }
}
