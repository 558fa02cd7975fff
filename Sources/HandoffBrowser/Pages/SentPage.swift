import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel
import LoopIO

/// A page that the user has sent to one device. It is offered in a separate session beside the page
/// in front, until it is accepted. Lives on the loop's thread.
final class SentPage {
    /// A change of the page's state.
    enum Event {
        /// The page was offered to the device.
        case offered
        /// The device has opened the page.
        case taken
        /// The page is no longer offered, or could not be. The text is the reason.
        case failed(String)
    }

    /// The maximum time to wait for a device, or its user, that is away.
    private static let lifetime = Duration.seconds(86_400)

    private let page: FrontPage
    private let place: PagePlace?
    private let device: DeviceID
    private let loop: EventLoop
    private let attachment: AppAttachment
    private weak var host: BrowserHost?
    private var timer: LoopTimer?

    init(_ page: FrontPage, at place: PagePlace?, to device: DeviceID, path: String, loop: EventLoop, app: String) {
        self.page = page
        self.place = place
        self.device = device
        self.loop = loop
        attachment = AppAttachment(path: path, loop: loop, app: AttachRequest(app: app))
    }

    /// Offers the page.
    /// - Parameter host: Receives the events; `taken` and `failed` are the last.
    func start(_ host: BrowserHost) {
        self.host = host
        attachment.start { [weak self] event in
            switch event {
            case .attached: self?.publish()
            case .event(.continued): self?.end(.taken)
            case .event(.withdrawn): self?.end(.failed("handoffd withdrew the page"))
            // Not retried: the page is no longer in front, so the user would not notice.
            case .lost: self?.end(.failed("the connection to handoffd was lost before the page was accepted"))
            case .failed(.refused(let refusal)): self?.end(.failed(VisibleText.escape(refusal.message)))
            case .failed, .notDeclared: self?.end(.failed("handoffd is not running"))
            case .event: break
            }
        }
    }

    /// Withdraws the page.
    func stop() {
        host = nil
        timer = nil
        attachment.stop()
    }

    private func publish() {
        var activity = page.activity
        activity.to = device.hex
        activity.needsSave = false
        if let place { activity.userInfo = [PagePlace.key: .object(place.json)] }
        activity.expirationDate = ActivityDescription.neverExpires
        attachment.publishAsCurrent(activity) { [weak self] result in
            switch result {
            case .success: self?.offered()
            case .failure(.refused(let refusal)): self?.end(.failed(VisibleText.escape(refusal.message)))
            case .failure: self?.end(.failed("the connection to handoffd was lost"))
            }
        }
    }

    private func offered() {
        host?.page(self, to: device, became: .offered)
        timer = loop.timer(after: Self.lifetime, accuracy: .seconds(60)) { [weak self] in
            self?.end(.failed("the page was not accepted within a day"))
        }
    }

    private func end(_ event: Event) {
        let host = host
        stop()
        host?.page(self, to: device, became: event)
    }
}
