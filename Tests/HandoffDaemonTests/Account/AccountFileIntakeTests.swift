import HandoffCrypto
import HandoffDaemon
import Testing

/// The parsing of the stream of an account file, for any sizes of the pieces.
@Suite struct AccountFileIntakeTests {
    private let bytes: [UInt8] = [0, 0, 0, 3, 0x61, 0x62, 0x63, 9, 8]

    @Test(arguments: 0...9, 0...9)
    func `the passphrase and the file arrive in pieces of any size`(_ first: Int, _ second: Int) throws {
        let cuts = [0, min(first, second), max(first, second), bytes.count]
        let intake = AccountFileIntake(maxPassphrase: 3, maxFile: 2)
        for (start, end) in zip(cuts, cuts.dropFirst()) { try intake.take(Array(bytes[start..<end]).span) }
        #expect(intake.hasPassphrase)
        #expect(intake.takePassphrase()?.exposedCopy() == [0x61, 0x62, 0x63])
        #expect(intake.takeFile().exposedCopy() == [9, 8])
    }

    @Test func `the passphrase is complete with its last byte`() throws {
        let intake = AccountFileIntake(maxPassphrase: 3, maxFile: 2)
        for index in 0..<7 {
            #expect(!intake.hasPassphrase)
            try intake.take([bytes[index]].span)
        }
        #expect(intake.hasPassphrase)
    }

    @Test func `a length of zero means no passphrase`() throws {
        let intake = AccountFileIntake(maxPassphrase: 3, maxFile: 0)
        try intake.take(([0, 0, 0, 0] as [UInt8]).span)
        #expect(intake.hasPassphrase)
        #expect(intake.takePassphrase() == nil)
    }

    @Test(arguments: [[0, 0, 0, 4], [0xFF, 0xFF, 0xFF, 0xFF], [0x80, 0, 0, 0]] as [[UInt8]])
    func `a length above the limit is refused before any further byte arrives`(_ length: [UInt8]) {
        let intake = AccountFileIntake(maxPassphrase: 3, maxFile: 2)
        #expect(throws: AccountFileIntake.Fault.passphraseTooLong) { try intake.take(length.span) }
    }

    @Test func `a file above the maximum size is refused`() throws {
        let intake = AccountFileIntake(maxPassphrase: 3, maxFile: 2)
        try intake.take(bytes.span)
        #expect(throws: AccountFileIntake.Fault.tooLong) { try intake.take(([7] as [UInt8]).span) }
    }
}
