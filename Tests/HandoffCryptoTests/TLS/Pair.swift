import HandoffCrypto
import Testing

/// A client and a server session that are connected by function calls.
struct Pair {
    let clientKey: SigningKey
    let serverKey: SigningKey
    let client: TLSSession
    let server: TLSSession

    init(
        bytesPerKey: UInt64 = TLSContext.defaultBytesPerKey,
        clientAccepts: @escaping @Sendable (PublicKey) -> Bool = { _ in true },
        serverAccepts: @escaping @Sendable (PublicKey) -> Bool = { _ in true }
    ) throws {
        clientKey = try SigningKey()
        serverKey = try SigningKey()
        let clientContext = try TLSContext(
            identity: TLSIdentity(key: clientKey), role: .client, bytesPerKey: bytesPerKey)
        let serverContext = try TLSContext(
            identity: TLSIdentity(key: serverKey), role: .server, bytesPerKey: bytesPerKey)
        client = try TLSSession(context: clientContext, accepts: clientAccepts)
        server = try TLSSession(context: serverContext, accepts: serverAccepts)
    }

    /// Runs the handshake to its end. The client's second flight counts as its end on both sides.
    ///
    /// - Parameter cut: the size of the pieces in which all bytes arrive.
    func handshake(cut: Int = .max) throws -> (client: TLSStep, server: TLSStep) {
        var toServer = try #require(client.start())
        var steps: (client: TLSStep, server: TLSStep) = (.incomplete, .incomplete)
        while true {
            steps.server = Self.feed(toServer, to: server, cut: cut)
            let toClient = server.takeCiphertext()
            if !toClient.isEmpty { steps.client = Self.feed(toClient, to: client, cut: cut) }
            toServer = client.takeCiphertext()
            if toServer.isEmpty { return steps }
        }
    }

    /// Completes the handshake, and expects success.
    func open() throws {
        let steps = try handshake()
        #expect(steps.client == .done)
        #expect(steps.server == .done)
    }

    private static func feed(_ bytes: [UInt8], to session: TLSSession, cut: Int) -> TLSStep {
        var rest = bytes[...]
        var step = TLSStep.incomplete
        while !rest.isEmpty {
            session.receive(Array(rest.prefix(cut)))
            rest = rest.dropFirst(cut)
            step = session.step()
        }
        return step
    }
}
