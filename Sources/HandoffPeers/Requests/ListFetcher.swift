import HandoffLog
import HandoffModel
import HandoffProtocol
import LoopIO
import Timing

/// A request for the list of a device, and the pause after it.
struct ListFetch {
    /// Whether the list has changed since the request.
    var isDueAgain = false
    /// The number of consecutive requests without a reply.
    var failures = 0
    /// Runs after the reply.
    var timer: LoopTimer?
}

/// Fetches the whole lists of what devices offer: of each device one at a time, and not again at once, whatever it
/// announces or answers. Lives on the daemon's loop.
final class ListFetcher {
    /// The shortest time from an answer to the next question.
    static let spacing = Duration.milliseconds(250)

    private let loop: EventLoop
    private let log: Logger
    private let client: PeerClient
    private unowned let network: PeerNetwork
    private let records: PeerRecords

    init(loop: EventLoop, log: Logger, client: PeerClient, network: PeerNetwork, records: PeerRecords) {
        self.loop = loop
        self.log = log
        self.client = client
        self.network = network
        self.records = records
    }

    /// Fetches the list of a device, now or when the present question is answered.
    func fetch(of device: DeviceID) {
        guard records[device].fetch == nil else {
            records[device].fetch?.isDueAgain = true
            return
        }
        ask(device, failures: 0)
    }

    private func ask(_ device: DeviceID, failures: Int) {
        records[device].fetch = ListFetch(failures: failures)
        client.askForList(of: device) { [self] list in
            if let list {
                records[device].fetch?.failures = 0
                // An answer that is older than the latest announcement makes it due again.
                network.receivedList(list, from: device)
            } else {
                records[device].fetch?.failures += 1
            }
            rest(after: device)
        }
    }

    private func rest(after device: DeviceID) {
        let failures = records[device].fetch?.failures ?? 0
        let wait = failures > 0 ? Backoff.list.delay(after: failures) : Self.spacing
        records[device].fetch?.timer = loop.timer(after: wait) { [unowned self] in
            guard let fetch = records[device].fetch else { return }
            records[device].fetch = nil
            // Nobody was asked while the account key was on its way here, or the connection has ended: it may say nothing more.
            let isMissing = fetch.failures > 0 && network.table[device]?.isComplete == false
            if fetch.isDueAgain || isMissing { ask(device, failures: fetch.failures) }
        }
    }
}
