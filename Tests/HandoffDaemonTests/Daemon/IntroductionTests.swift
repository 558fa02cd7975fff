import HandoffAccount
import HandoffControl
import HandoffCrypto
import HandoffDaemon
import HandoffDiscovery
import HandoffModel
import HandoffProtocol
import HandoffTestSupport
import HandoffTransport
import Testing

/// A device that one member admitted introduces itself to another one, by whole daemons.
@Suite struct IntroductionTests {
    /// Calls `device` with the account key, as a device that it does not know.
    private func call(
        _ device: TestDevice, as guest: SigningKey, _ fleet: Fleet, onEnd: @escaping () -> Void
    ) throws -> PeerConnection {
        let account = try #require(try device.storedAccount())
        let gate = try #require(account.held?.keys.gate)
        let server = try device.status().device
        let label = try #require(device.discovery.publication.flatMap { Label(instanceName: $0.instance) })
        let dialer = Dialer(context: try TLSContext(identity: TLSIdentity(key: guest), role: .client), on: fleet.loop)
        var result: Result<PeerConnection, DialError>?
        let target = DialTarget(
            candidates: [device.address],
            token: {
                Gate.token(
                    key: gate, hint: .introduction, serial: Gate.Serial(generation: 1, call: 1), label: label,
                    Gate.Greeting($0, to: server))
            },
            accepts: { _ in true })
        let dial = dialer.dial(target) {
            if case .success(let connection) = $0 {
                connection.onBytes = { _ in }
                connection.onClosed = { _ in onEnd() }
            }
            result = $0
        }
        try fleet.run("the call") { result != nil }
        dial.cancel()
        return try #require(result).get()
    }

    @Test(arguments: [false, true]) func `a device that is removed meanwhile is disconnected`(hasSentAll: Bool) throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let members = try fleet.account("desk", "couch")
        let (desk, couch) = (members[0], members[1])
        let guest = try SigningKey()
        let guestID = DeviceID(guest.publicKey)
        // The couch admits a device, and removes it again, before the desk has learned of either.
        try couch.stop()
        var proof: [UInt8] = []
        try couch.editAccount { account, key in
            let admitting = try account.admitting(guest.publicKey, name: "guest", by: key)
            proof = admitting.roster.encoded()
            return try admitting.removing(guestID, keeping: [], by: key, now: fleet.unixSeconds)
        }
        fleet.network.hold()
        try couch.start()
        var hasEnded = false
        let connection = try call(desk, as: guest, fleet) { hasEnded = true }

        if hasSentAll { connection.send([Frame(.statements, proof)]) }
        fleet.network.release()

        try fleet.run("the end of the connection") { hasEnded }
        try fleet.settle(members)
        for member in members { #expect(try Set(member.deviceList().map(\.name)) == ["desk", "couch"]) }
        #expect(try desk.storedAccount()?.view.isRemoved(guestID) == true)
    }
}
