import HandoffLog
import HandoffModel
import HandoffPeers
import HandoffProtocol
import LoopIO

/// Fetches the whole lists of what devices offer: of each device one at a time, and not again at once, whatever it
/// announces or answers. Lives on the daemon's loop.
final class ListFetcher {
    /// The shortest time from an answer to the next question.
    static let spacing = Duration.milliseconds(250)

    private struct Fetch {
        /// Something changed since the question.
        var isDueAgain = false
        /// Runs after the answer.
        var timer: LoopTimer?
    }

    private let loop: EventLoop
    private let log: Logger
    private let client: PeerClient
    private unowned let network: PeerNetwork
    private var fetches: [DeviceID: Fetch] = [:]

    init(loop: EventLoop, log: Logger, client: PeerClient, network: PeerNetwork) {
        self.loop = loop
        self.log = log
        self.client = client
        self.network = network
    }

    /// Fetches the list of a device, now or when the present question is answered.
    func fetch(of device: DeviceID) {
        guard fetches[device] == nil else {
            fetches[device]?.isDueAgain = true
            return
        }
        fetches[device] = Fetch()
        client.askForList(of: device) { [self] list in
            // An answer that is older than the latest announcement makes it due again.
            if let list { network.receivedList(list, from: device) }
            rest(after: device)
        }
    }

    private func rest(after device: DeviceID) {
        fetches[device]?.timer = loop.timer(after: Self.spacing) { [unowned self] in
            let isDueAgain = fetches.removeValue(forKey: device)?.isDueAgain ?? false
            if isDueAgain { fetch(of: device) }
        }
    }
}
