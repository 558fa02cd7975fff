import HandoffPairing
import Testing

/// A changed byte in any message prevents the transfer of the account.
@Suite struct PairingCorruptionTests {
    @Test(arguments: 0..<9)
    func `of each message`(_ number: Int) throws {
        let account = try PairingSamples.account()
        var whole = try SessionPair(account: account)
        try whole.run()
        let count = whole.messages[number].bytes.count
        let kind = whole.messages[number].bytes[4]
        for position in 0..<count {
            var pair = try SessionPair(account: account)
            try pair.run { message in
                guard message.number == number else { return message.bytes }
                var bytes = message.bytes
                bytes[position] ^= 1 << UInt8(position % 8)
                return bytes
            }
            let (isStored, isReceived, guesses) = (pair.isStored, pair.received != nil, pair.wrongGuesses)
            #expect(!isStored, "byte \(position)")
            // Only the confirmation that the account is stored follows it.
            if kind != PairingFrameKind.stored.rawValue {
                #expect(!isReceived, "byte \(position)")
            }
            if guesses > 0 {
                // An attacker that changes bytes before the proof can make an honest joiner look
                // like a guesser. Later changes cannot.
                #expect(kind <= PairingFrameKind.confirmA.rawValue)
            }
        }
    }
}
