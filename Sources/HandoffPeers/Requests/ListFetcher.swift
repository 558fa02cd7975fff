import HandoffModel
import HandoffProtocol
import LoopIO

/// A request for the list of a device, and the pause after it.
struct ListFetch {
    /// True if the list has changed since the request.
    var isDueAgain = false
    /// The number of consecutive requests without a reply.
    var failures = 0
    /// Runs after the reply.
    var timer: LoopTimer?
}

/// Requests the complete lists of the offers of other devices. There is one request to a device at
/// a time, and a pause after each, regardless of its announcements and replies. Lives on the
/// daemon's loop.
final class ListFetcher {
    /// The minimum time from a reply to the next request.
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

    /// Requests the list of a device, now or after the reply to the present request.
    func fetch(of device: DeviceID) {
        guard records[device].fetch == nil else {
            records[device].fetch?.isDueAgain = true
            return
        }
        ask(device, failures: 0)
    }

    private func ask(_ device: DeviceID, failures: Int) {
        records[device].fetch = ListFetch(failures: failures)
        client.requestList(of: device) { [self] list in
            if let list {
                records[device].fetch?.failures = 0
                // A list that is older than the latest announcement is requested again.
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
            // Nothing was requested while the account key was missing here, or the connection has
            // ended. The device may announce nothing more.
            let isMissing = fetch.failures > 0 && network.table[device]?.isComplete == false
            if fetch.isDueAgain || isMissing { ask(device, failures: fetch.failures) }
        }
    }
}
