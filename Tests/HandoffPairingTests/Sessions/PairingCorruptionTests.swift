import HandoffPairing
import Testing

/// A changed byte anywhere ends in no account.
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
            // Only the word that the account is stored comes after it.
            if kind != PairingFrameKind.stored.rawValue {
                #expect(!isReceived, "byte \(position)")
            }
            if guesses > 0 {
                // What an onlooker changes before the proof makes an honest joiner look like a guesser, but only there.
                #expect(kind <= PairingFrameKind.confirmA.rawValue)
            }
        }
    }
}
