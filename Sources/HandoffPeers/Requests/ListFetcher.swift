import HandoffLog
import HandoffModel
import HandoffProtocol
import LoopIO
import Timing

/// Fetches the whole lists of what devices offer: of each device one at a time, and not again at once, whatever it
/// announces or answers. Lives on the daemon's loop.
final class ListFetcher {
    /// The shortest time from an answer to the next question.
    static let spacing = Duration.milliseconds(250)

    private struct Fetch {
        /// Something changed since the question.
        var isDueAgain = false
        /// How many questions in a row had no answer.
        var failures = 0
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
        ask(device, failures: 0)
    }

    private func ask(_ device: DeviceID, failures: Int) {
        fetches[device] = Fetch(failures: failures)
        client.askForList(of: device) { [self] list in
            if let list {
                fetches[device]?.failures = 0
                // An answer that is older than the latest announcement makes it due again.
                network.receivedList(list, from: device)
            } else {
                fetches[device]?.failures += 1
            }
            rest(after: device)
        }
    }

    private func rest(after device: DeviceID) {
        let failures = fetches[device]?.failures ?? 0
        let wait = failures > 0 ? Backoff.list.delay(after: failures) : Self.spacing
        fetches[device]?.timer = loop.timer(after: wait) { [unowned self] in
            guard let fetch = fetches.removeValue(forKey: device) else { return }
            // Nobody was asked while the account key was on its way here, or the connection has ended: it may say nothing more.
            let isMissing = fetch.failures > 0 && network.table[device]?.isComplete == false
            if fetch.isDueAgain || isMissing { ask(device, failures: fetch.failures) }
        }
    }
}
