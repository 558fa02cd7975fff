import HandoffControl
import HandoffJSON
import HandoffTestSupport
import LoopIO
import Testing

/// Account files on the control sockets of whole daemons.
@Suite struct AccountFileTests {
    @Test func `a file with a passphrase admits a device that knows it`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let (desk, couch) = (try fleet.device("desk"), try fleet.device("couch"))
        _ = try desk.call(.createAccount)
        let file = try desk.exportAccount(passphrase: "open sesame")

        for (passphrase, word) in [("", "enter the passphrase"), ("open sesam", "cannot be opened")] {
            let answer = try couch.offerAccountFile(file, passphrase: passphrase)
            #expect(answer["error"]?.string == ControlErrorName.wrongPassphrase.rawValue)
            #expect(answer["message"]?.string?.contains(word) == true, "\(answer)")
        }
        #expect(try couch.status().account == nil)
        try couch.importAccount(file, passphrase: "open sesame")
        try fleet.settle([desk, couch])
    }

    @Test func `the file by which a device has joined changes nothing on that device`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let (desk, couch) = (try fleet.device("desk"), try fleet.device("couch"))
        _ = try desk.call(.createAccount)
        let file = try desk.exportAccount()
        try couch.importAccount(file)
        try fleet.settle([desk, couch])
        let answer = try couch.offerAccountFile(file)
        #expect(answer["joined"] == .bool(true))
        #expect(answer["error"] == nil)
        try fleet.settle([desk, couch])
    }

    @Test func `for a file of another account, the error names the current account`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let (desk, couch) = (try fleet.device("desk"), try fleet.device("couch"))
        _ = try desk.call(.createAccount)
        _ = try couch.call(.createAccount)
        let answer = try couch.offerAccountFile(try desk.exportAccount())
        #expect(answer["error"]?.string == ControlErrorName.accountExists.rawValue)
    }

    @Test func `an unencrypted file is refused if a passphrase is given`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let (desk, couch) = (try fleet.device("desk"), try fleet.device("couch"))
        _ = try desk.call(.createAccount)
        let answer = try couch.offerAccountFile(try desk.exportAccount(), passphrase: "open sesame")
        #expect(answer["error"]?.string == ControlErrorName.invalidAccountFile.rawValue)
        #expect(try couch.status().account == nil)
    }

    @Test(
        arguments: [
            ([], ControlErrorName.invalidAccountFile),
            ([0, 0, 0], .invalidAccountFile),
            ([0, 0, 0, 5, 1, 2], .invalidAccountFile),
            ([0, 0, 4, 1], .wrongPassphrase),
            ([0xFF, 0xFF, 0xFF, 0xFF, 1], .wrongPassphrase),
        ] as [([UInt8], ControlErrorName)])
    func `invalid input of an import is refused`(_ bytes: [UInt8], _ error: ControlErrorName) throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let desk = try fleet.device("desk")
        #expect(try desk.answerToImport(of: bytes)["error"]?.string == error.rawValue)
        #expect(try desk.status().account == nil)
    }

    @Test(arguments: [[0, 0, 4, 1], [0xFF, 0xFF, 0xFF, 0xFF], [0, 0, 0, 0, 1], [0, 0, 0, 1, 1, 1]] as [[UInt8]])
    func `invalid input of an export gets no file and creates no ticket`(_ bytes: [UInt8]) throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let desk = try fleet.device("desk")
        _ = try desk.call(.createAccount)
        let call = try desk.open(ControlMethod.exportAccount.rawValue, upgrade: true)
        _ = try call.result()
        call.stream.write(bytes)
        #expect(try call.rest().isEmpty)
        #expect(try desk.status().tickets.isEmpty)
    }

    @Test func `a client that ends before its passphrase leaves nothing`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let desk = try fleet.device("desk")
        _ = try desk.call(.createAccount)
        // More than may be open at a time: each must make room for the next.
        for _ in 0..<6 {
            let call = try desk.open(ControlMethod.exportAccount.rawValue, upgrade: true)
            _ = try call.result()
            call.stream.write([0, 0, 0, 9, 1, 2])
            call.stream.shutdownWrite()
            #expect(try call.rest().isEmpty)
        }
        #expect(try desk.status().tickets.isEmpty)
        #expect(try desk.status().epoch == 1)
    }

    @Test func `the ticket of a file that was not received is closed immediately`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let desk = try fleet.device("desk")
        _ = try desk.call(.createAccount)
        let call = try desk.open(ControlMethod.exportAccount.rawValue, upgrade: true)
        _ = try call.result()
        call.stream.write(TestDevice.passphraseBytes("open sesame"))
        call.stream.close()
        try fleet.poll("the ticket was created and closed") {
            try desk.status().tickets.isEmpty
                && desk.log.contains { $0.contains("An exported account file was revoked") }
        }
    }

    @Test func `a client may end its side before it receives the file`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let (desk, couch) = (try fleet.device("desk"), try fleet.device("couch"))
        _ = try desk.call(.createAccount)
        let call = try desk.open(ControlMethod.exportAccount.rawValue, upgrade: true)
        _ = try call.result()
        call.stream.write([0, 0, 0, 0])
        call.stream.shutdownWrite()
        try couch.importAccount(try call.rest())
        try fleet.settle([desk, couch])
    }

    @Test func `clients that send nothing are disconnected and make room`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let desk = try fleet.device("desk")
        _ = try desk.call(.createAccount)
        let idle = try (0..<4).map { _ in try desk.open(ControlMethod.importAccount.rawValue, upgrade: true) }
        for call in idle { _ = try call.result() }
        for method in [ControlMethod.exportAccount, .importAccount] {
            let refusal = try desk.open(method.rawValue, upgrade: true).refusal()
            #expect(refusal.name == ControlErrorName.limitExceeded.rawValue)
        }

        fleet.pass(.seconds(61))
        for call in idle { #expect(try call.rest().isEmpty) }
        #expect(try !desk.exportAccount().isEmpty)
    }

    @Test func `an export is listed with its age`() throws {
        let fleet = try Fleet()
        defer { fleet.end() }
        let members = try fleet.account("desk", "couch")
        let earliest = fleet.unixSeconds
        _ = try members[0].exportAccount()
        let latest = fleet.unixSeconds
        fleet.pass(.seconds(300))
        try fleet.poll("the couch knows the ticket") { try !members[1].status().tickets.isEmpty }
        let before = fleet.unixSeconds
        let mine = try #require(try members[0].status().tickets.first)
        #expect(mine.mine)
        #expect((before - latest...fleet.unixSeconds - earliest).contains(UInt64(mine.age ?? 0)), "\(mine)")
        let theirs = try #require(try members[1].status().tickets.first)
        #expect(theirs.id == mine.id)
        #expect(theirs.device == mine.device)
        #expect(!theirs.mine)
        #expect(theirs.age == nil)
    }
}
