import HandoffAccount
import HandoffCrypto
import HandoffPairing
import Testing

/// A connected inviter and joiner, and the drivers of both.
struct SessionPair {
    /// A message in transit. Tests can change it, omit it, or append others.
    struct Message: Sendable {
        let sender: PairingRole
        /// The number of earlier messages of both senders.
        let number: Int
        let bytes: [UInt8]
    }

    var inviter: InviterSession
    var joiner: JoinerSession
    /// The answer of the inviter's user; nil to agree.
    var answer: PairingRefusal?
    /// The window's refusal of a guess; nil to verify it.
    var judgement: PairingRefusal?
    /// The link that the joiner's user has. The inviter's is number 1.
    var joinerLink: PairingLink
    /// The password that the joiner uses instead of its link.
    var joinerPassword: PairingPassword?
    let account: AccountState
    /// Length of the pieces in which bytes arrive; 0 for whole messages.
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
    /// Both sessions before each message arrived.
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

    /// Runs until neither sends anything. `change` receives each message and returns the bytes that
    /// arrive instead.
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
    /// A short description for failed expectations.
    var testDescription: String { "inviter \(inviterEnds), joiner \(joinerEnds)" }
}
