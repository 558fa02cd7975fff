import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel
import LoopIO

/// A page that the user has sent to one device: on offer to it, in a session of its own beside the page in front, until it was
/// taken there. Lives on the loop's thread.
final class SentPage {
    /// What became of it.
    enum Event {
        /// The device is told of it.
        case offered
        /// The device has opened it.
        case taken
        /// It is not on offer any more, or never was: why.
        case failed(String)
    }

    /// How long it waits for a device that is away, or whose user is.
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

    /// Offers it.
    /// - Parameter host: told what becomes of it; `taken` and `failed` are the last.
    func start(_ host: BrowserHost) {
        self.host = host
        attachment.start { [weak self] event in
            switch event {
            case .attached: self?.publish()
            case .event(.continued): self?.end(.taken)
            case .event(.withdrawn): self?.end(.failed("handoffd has withdrawn the page"))
            // The page that was sent is not in front any more, so nobody would know that it is sent again.
            case .lost: self?.end(.failed("handoffd went away before the page was taken"))
            case .failed(.refused(let refusal)): self?.end(.failed(VisibleText.escape(refusal.message)))
            case .failed, .notDeclared: self?.end(.failed("handoffd does not run"))
            case .event: break
            }
        }
    }

    /// Takes it back.
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
            case .failure: self?.end(.failed("handoffd went away"))
            }
        }
    }

    private func offered() {
        host?.page(self, to: device, became: .offered)
        timer = loop.timer(after: Self.lifetime, accuracy: .seconds(60)) { [weak self] in
            self?.end(.failed("the page was not taken for a day"))
        }
    }

    private func end(_ event: Event) {
        let host = host
        stop()
        host?.page(self, to: device, became: event)
    }
}
