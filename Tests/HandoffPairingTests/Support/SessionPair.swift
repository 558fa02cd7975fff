import HandoffAccount
import HandoffCrypto
import HandoffPairing
import Testing

/// An inviter and a joiner that talk to each other, and the drivers of both.
struct SessionPair {
    /// A message on its way: changed, left out, or followed by others at will.
    struct Message: Sendable {
        let sender: PairingRole
        /// How many came before it, of both senders.
        let number: Int
        let bytes: [UInt8]
    }

    var inviter: InviterSession
    var joiner: JoinerSession
    /// What the inviter's user says.
    var answer: PairingRefusal?
    /// What the inviter's window says to a guess.
    var judgement: PairingRefusal?
    /// What the joiner's user has; the inviter's is number 1.
    var joinerLink: PairingLink
    /// What the joiner uses instead of its link.
    var joinerPassword: PairingPassword?
    let account: AccountState
    /// How long the pieces are in which bytes arrive; 0 for whole messages.
    var cut = 0

    private(set) var inviterEnds: [PairingEnd] = []
    private(set) var joinerEnds: [PairingEnd] = []
    private(set) var wrongGuesses = 0
    private(set) var rightGuesses = 0
    private(set) var isStored = false
    private(set) var asked: PairingPeer?
    private(set) var inviterSeen: PairingPeer?
    private(set) var received: PairedAccount?
    private(set) var messages: [Message] = []
    /// Both sessions as they were before each message arrived.
    private(set) var snapshots: [(inviter: InviterSession, joiner: JoinerSession)] = []

    init(
        inviterPassword: PairingPassword? = nil, joinerPassword: PairingPassword? = nil,
        inviterExporter: [UInt8] = PairingSamples.exporter, joinerExporter: [UInt8] = PairingSamples.exporter,
        joinerKey: SigningKey? = nil, account: AccountState? = nil
    ) throws {
        let same = try PairingSamples.password()
        inviter = InviterSession(
            password: inviterPassword ?? same, salt: try PairingSamples.salt(), exporter: inviterExporter,
            identity: try PairingSamples.inviterKey(), name: "first")
        joiner = JoinerSession(
            exporter: joinerExporter, identity: try joinerKey ?? PairingSamples.joinerKey(), name: "second")
        self.joinerPassword = joinerPassword
        joinerLink = PairingSamples.link()
        self.account = try account ?? PairingSamples.account()
    }

    /// Runs until neither has anything to say; `change` gets each message and gives what arrives instead.
    mutating func run(change: (Message) -> [UInt8] = { $0.bytes }) throws {
        var queue: [(sender: PairingRole, bytes: [UInt8])] = []
        try perform(inviter.start(), &queue)
        while !queue.isEmpty {
            let (sender, bytes) = queue.removeFirst()
            let message = Message(sender: sender, number: messages.count, bytes: bytes)
            messages.append(message)
            snapshots.append((inviter, joiner))
            for piece in pieces(of: change(message)) {
                switch sender {
                case .inviter: try perform(joiner.received(piece), &queue)
                case .joiner: try perform(inviter.received(piece), &queue)
                }
            }
        }
    }

    private func pieces(of bytes: [UInt8]) -> [[UInt8]] {
        guard cut > 0 else { return [bytes] }
        return stride(from: 0, to: bytes.count, by: cut).map { Array(bytes[$0..<min($0 + cut, bytes.count)]) }
    }

    private mutating func perform(
        _ actions: [InviterAction], _ queue: inout [(sender: PairingRole, bytes: [UInt8])]
    ) throws {
        for action in actions {
            switch action {
            case .send(let bytes): queue.append((.inviter, bytes))
            case .guess:
                try perform(judgement.map { inviter.refuse($0) } ?? inviter.checkGuess(), &queue)
            case .wrongGuess:
                wrongGuesses += 1
                try perform(inviter.refuse(.wrongCode), &queue)
            case .knowsCode: rightGuesses += 1
            case .joiner(let peer):
                asked = peer
                if let answer {
                    try perform(inviter.refuse(answer), &queue)
                } else {
                    let key = try #require(account.accountKey)
                    let epoch = try #require(account.epoch)
                    let statements = account.roster.encoded()
                    try perform(
                        inviter.handOver(epoch: UInt64(epoch), accountKey: key, statements: statements), &queue)
                }
            case .stored: isStored = true
            case .ended(let end): inviterEnds.append(end)
            }
        }
    }

    private mutating func perform(
        _ actions: [JoinerAction], _ queue: inout [(sender: PairingRole, bytes: [UInt8])]
    ) throws {
        for action in actions {
            switch action {
            case .send(let bytes): queue.append((.joiner, bytes))
            case .needsPassword(let salt):
                let derived = try #require(try PairingPassword(link: joinerLink, salt: salt))
                try perform(joiner.use(joinerPassword ?? derived), &queue)
            case .inviter(let peer): inviterSeen = peer
            case .account(let account):
                received = account
                try perform(joiner.stored(), &queue)
            case .ended(let end): joinerEnds.append(end)
            }
        }
    }
}

extension SessionPair: CustomTestStringConvertible {
    /// Short, as a failed expectation shows it.
    var testDescription: String { "inviter \(inviterEnds), joiner \(joinerEnds)" }
}
