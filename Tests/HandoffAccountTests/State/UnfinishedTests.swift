import HandoffAccount
import HandoffCrypto
import HandoffModel
import Testing

/// Devices that were admitted by pairing and may not know it.
@Suite struct UnfinishedTests {
    private func paired() throws -> (founder: Member, guest: PublicKey, id: DeviceID) {
        var founder = try Member.founder()
        let guest = try TestKeys.key(1).publicKey
        founder.state = try founder.state.pairing(guest, name: "guest", by: founder.key)
        return (founder, guest, DeviceID(guest))
    }

    @Test
    func `a paired device is a member and unfinished, in one state`() throws {
        let (founder, _, id) = try paired()
        #expect(founder.state.view.isLive(id))
        #expect(founder.state.unfinished == [id])
        #expect(founder.state.finishing(id).unfinished.isEmpty)
    }

    @Test
    func `the file preserves unfinished devices`() throws {
        let (founder, _, id) = try paired()
        #expect(try AccountState(decoding: founder.state.encoded()).unfinished == [id])
    }

    @Test
    func `a device that is no longer a member is no longer unfinished`() throws {
        let (founder, _, id) = try paired()
        let removed = try founder.state.removing(id, keeping: [], by: founder.key, now: Member.start)
        #expect(removed.unfinished.isEmpty)
        let merged = try founder.state.merging(removed.roster.ordered)
        #expect(merged.state.unfinished.isEmpty)
    }

    @Test
    func `only a device's own statement makes it left`() throws {
        var (founder, _, id) = try paired()
        #expect(!founder.state.hasLeft(founder.id))
        founder.state = try founder.state.removing(id, keeping: [], by: founder.key, now: Member.start)
        #expect(!founder.state.hasLeft(id), "it was removed by another")
        founder.state = try founder.state.leaving(by: founder.key)
        #expect(founder.state.hasLeft(founder.id))
        #expect(try AccountState(decoding: founder.state.encoded()).hasLeft(founder.id))
    }

    @Test
    func `the admitter of a device is known: directly, by a file, or none for the founder`() throws {
        var founder = try Member.founder()
        var guest = try founder.pair(1)
        let other = try guest.pair(2)
        #expect(guest.state.view.admitter(of: founder.id) == nil)
        #expect(guest.state.view.admitter(of: guest.id) == founder.id)
        #expect(guest.state.view.admitter(of: other.id) == guest.id)
        let export = try guest.state.exportingTicket(by: guest.key, now: Member.start)
        let key = try TestKeys.key(3)
        let third = try AccountState.importing(export.file, device: key, name: "third")
        #expect(third.view.admitter(of: DeviceID(key.publicKey)) == guest.id)
    }
}
