import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel
import LoopIO

/// Has the other devices of the account ask for the tabs that are open here: an activity in a session of its own, beside the page
/// in front. It says that there are tabs; which, is looked up for each stream that is asked for. Lives on the loop's thread.
final class TabOffer {
    /// Streams that wait for the extension at most: the popups of so many devices.
    private static let most = 16

    private let loop: EventLoop
    private let path: String
    private let attachment: AppAttachment
    private weak var host: BrowserHost?
    private var lastRequest = 0
    private var waiting: [Int: StreamID] = [:]
    /// The connections of streams that are being opened.
    private var opening: [ObjectIdentifier: ControlClient] = [:]

    /// - Parameters:
    ///   - app: as what the browser attaches.
    ///   - host: asks the extension which tabs are open; `answer` takes it with the same number.
    init(path: String, loop: EventLoop, app: String, host: BrowserHost) {
        self.loop = loop
        self.path = path
        self.host = host
        attachment = AppAttachment(path: path, loop: loop, app: AttachRequest(app: app))
    }

    /// Offers the tabs until `stop`, or until the daemon goes away.
    func start() {
        attachment.start { [weak self] report in
            switch report {
            case .attached: self?.publish()
            case .event(.stream(_, let stream, _, nil)): self?.serve(stream)
            // Whoever has us begins anew when the daemon is back.
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

    /// Which tabs are open.
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
        // Where it is refused there is nothing to offer.
        attachment.publishAsCurrent(activity) { _ in }
    }

    private func serve(_ stream: StreamID) {
        // Who asks for more than that is refused by the daemon, after its time.
        guard waiting.count < Self.most else { return }
        lastRequest += 1
        waiting[lastRequest] = stream
        host?.say(.listTabs(request: lastRequest))
    }
}
