import HandoffModel
import HandoffTransfer
import Testing

private let digest = String(repeating: "ab", count: 32)
private let id = String(repeating: "0a", count: 16)
private let header = #"{"version":1,"kind":"file","name":"a","size":3,"id":"\#(id)"}"#

/// Every message in every invalid form.
private let malformed = [
    "", "{", "[]", "null", "1", "{}", #"{"what":1}"#, #"{"go":false}"#, #"{"go":1}"#, #"{"done":null}"#,
    #"{"version":1}"#, #"{"version":2,"kind":"file","size":1}"#, #"{"version":"1","kind":"file","size":1}"#,
    #"{"version":1,"kind":"device","size":1}"#, #"{"version":1,"kind":"file"}"#,
    #"{"version":1,"kind":"file","size":null}"#,
    #"{"version":1,"kind":"file","size":-1}"#, #"{"version":1,"kind":"file","size":4611686018427387905}"#,
    #"{"version":1,"kind":"file","size":9223372036854775808}"#, #"{"version":1,"kind":"file","size":1.5}"#,
    #"{"version":1,"kind":"file","size":"1"}"#, #"{"version":1,"kind":"folder","size":1}"#,
    #"{"version":1,"kind":"stream","size":0}"#, #"{"version":1,"kind":"file","size":1,"name":1}"#,
    #"{"version":1,"kind":"file","size":1,"name":"\#(String(repeating: "n", count: 256))"}"#,
    #"{"version":1,"kind":"file","size":1,"id":"0a"}"#,
    #"{"version":1,"kind":"file","size":1,"id":"\#(id.uppercased())"}"#,
    #"{"version":1,"kind":"file","size":1,"id":"0a-\#(id.dropFirst(2))"}"#,
    #"{"version":1,"kind":"file","size":1,"id":1}"#,
    #"{"version":1,"kind":"file","size":1,"mode":-1}"#, #"{"version":1,"kind":"file","size":1,"mode":4096}"#,
    #"{"version":1,"kind":"file","size":1,"modified":9223372036854775807}"#,
    #"{"have":-1}"#, #"{"have":1}"#, #"{"have":0,"sha256":"\#(digest)"}"#, #"{"have":1,"sha256":"abcd"}"#,
    #"{"have":4611686018427387905,"sha256":"\#(digest)"}"#, #"{"have":"1","sha256":"\#(digest)"}"#, #"{"have":true}"#,
    #"{"have":null}"#, #"{"from":-1}"#, #"{"from":0,"length":-1}"#, #"{"from":4611686018427387905}"#,
    #"{"from":0,"length":"1"}"#, #"{"have":1,"sha256":"\#(digest)00"}"#,
    #"{"have":1,"sha256":"\#(digest.uppercased())"}"#, #"{"have":1,"sha256":1}"#,
    #"{"complete":false}"#, #"{"complete":1}"#,
    #"{"error":null}"#, #"{"error":{}}"#, #"{"error":{"reason":"full"}}"#, #"{"error":{"reason":1,"message":"m"}}"#,
    #"{"error":{"reason":"full","message":"\#(String(repeating: "m", count: 1025))"}}"#,
    #"{"error":{"reason":"\#(String(repeating: "r", count: 65))","message":"m"}}"#,
    #"{"go":true,"go":true}"#, "{\"go\":true}\u{0}", #"{"go":[[[[[true]]]]]}"#,
]

/// Every well-formed message.
private let messages: [TransferFrame] = {
    guard let header = TransferHeader(kind: .file, name: "a", size: 3), let all = DigestSample.digest,
        let have = TransferHave(offset: 2, digest: all), let start = TransferStart(offset: 0, length: 3)
    else { return [] }
    return [.header(header), .have(have), .start(start), .go, .complete(.none), .done]
}()

private enum DigestSample {
    static let digest = ContentDigest(hex: HandoffTransferTests.digest)
}

/// Returns a receiver that waits for the message with this number in the transfer of a file of 3
/// bytes.
private func receiver(at step: Int) -> ReceiverMachine {
    var machine = ReceiverMachine()
    if step > 0 { machine.after { $0.received(frame(header)) } }
    if step > 1 { machine.after { $0.opened() } }
    if step > 2 { machine.after { $0.received(frame(#"{"from":0,"length":3}"#)) } }
    if step > 3 { machine.after { $0.ready() } }
    if step > 4 { machine.after { $0.bytesReceived() } }
    return machine
}

private func sender(at step: Int) throws -> SenderMachine {
    let header = try #require(TransferHeader(kind: .file, name: "a", size: 3))
    var machine = SenderMachine(header: header)
    machine.after { $0.start() }
    if step > 0 { machine.after { $0.received(frame(#"{"have":2,"sha256":"\#(digest)"}"#)) } }
    if step > 1 { machine.after { $0.prefixHashed(SHA256Hasher.digest(of: [])) } }
    if step > 2 { machine.after { $0.received(frame(#"{"go":true}"#)) } }
    if step > 3 { machine.after { $0.bytesSent() } }
    if step > 4 { machine.after { $0.confirmed() } }
    return machine
}

@Suite struct HostilePeerTests {
    @Test(arguments: malformed)
    func `a malformed message ends a receiver with an error for both sides`(text: String) throws {
        for step in [0, 1, 2, 3, 5] {
            var machine = receiver(at: step)
            let actions = machine.after { $0.received(frame(text)) }
            guard let failure = ending(actions) else {
                Issue.record("step \(step): \(actions)")
                continue
            }
            #expect([.malformed, .unsupported].contains(failure.reason))
            #expect(actions.dropLast() == [.send(TransferFrame.error(failure).encoded()), .end])
            #expect(machine.isEnded)
            #expect(machine.after { $0.received(frame(header)) }.isEmpty)
        }
    }

    @Test(arguments: malformed)
    func `a malformed message ends a sender with an error for both sides`(text: String) throws {
        for step in 0...5 {
            var machine = try sender(at: step)
            let actions = machine.after { $0.received(frame(text)) }
            guard let failure = ending(actions) else {
                Issue.record("step \(step): \(actions)")
                continue
            }
            #expect([.malformed, .unsupported].contains(failure.reason))
            #expect(machine.isEnded)
        }
    }

    @Test(arguments: messages.indices)
    func `an unexpected message ends either side`(index: Int) throws {
        let message = messages[index]
        for step in [0, 1, 2, 3, 5] {
            let expected = step == 0 ? 0 : step == 2 ? 2 : step == 5 ? 4 : nil
            guard expected != index else { continue }
            var machine = receiver(at: step)
            guard let failure = ending(machine.after { $0.received(message.encoded()) }) else {
                Issue.record("a receiver at \(step) takes \(message)")
                continue
            }
            #expect(failure.reason == .malformed)
        }
        for step in 0...5 {
            let expected = step == 0 ? 1 : step == 2 ? 3 : step == 5 ? 5 : nil
            guard expected != index else { continue }
            var machine = try sender(at: step)
            guard let failure = ending(machine.after { $0.received(message.encoded()) }) else {
                Issue.record("a sender at \(step) takes \(message)")
                continue
            }
            #expect(failure.reason == .malformed)
        }
    }

    @Test(arguments: [0, 65_537, UInt32.max])
    func `an invalid length ends it before anything is buffered`(length: UInt32) {
        var machine = ReceiverMachine()
        let actions = machine.after { $0.received(withUnsafeBytes(of: length.bigEndian) { Array($0) }) }
        #expect(ending(actions) != nil)
    }

    @Test(arguments: [1_048_577, UInt32.max])
    func `an invalid chunk length ends it`(length: UInt32) {
        var machine = ReceiverMachine()
        machine.after { $0.received(frame(#"{"version":1,"kind":"stream"}"#)) }
        machine.after { $0.opened() }
        machine.after { $0.received(frame(#"{"from":0,"length":null}"#)) }
        #expect(ending(machine.after { $0.received(withUnsafeBytes(of: length.bigEndian) { Array($0) }) }) != nil)
    }

    @Test(arguments: [
        #"{"from":1,"length":2}"#, #"{"from":0,"length":null}"#,
        #"{"from":3,"length":0}"#,
        #"{"from":0,"length":4611686018427387904}"#,
    ])
    func `an impossible start ends it`(text: String) {
        var machine = receiver(at: 2)
        guard let failure = ending(machine.after { $0.received(frame(text)) }) else {
            Issue.record("it goes on")
            return
        }
        #expect(failure.reason == .malformed)
    }

    @Test
    func `an empty part ends it, unless the file ends with a hole there`() {
        for (text, isMalformed) in [(#"{"from":2,"length":0}"#, true), (#"{"from":3,"length":0}"#, false)] {
            var machine = receiver(at: 2)
            machine.after { $0.received(frame(#"{"from":0,"length":1}"#)) }
            machine.after { $0.ready() }
            machine.after { $0.bytesReceived() }
            let end = ending(machine.after { $0.received(frame(text)) })
            #expect((end?.reason == .malformed) == isMalformed)
        }
    }

    @Test
    func `unrequested content ends it`() {
        var machine = receiver(at: 2)
        #expect(ending(machine.after { $0.received(frame(#"{"from":0,"length":3}"#) + [1]) }) != nil)
    }

    @Test
    func `a receiver never buffers more than a message while the daemon writes`() {
        var machine = receiver(at: 4)
        for _ in 0..<100 { machine.after { $0.received([UInt8](repeating: 0, count: 10_000)) } }
        #expect(machine.isEnded || machine.bufferedBytes <= TransferLimits.frame + 4)
    }

    @Test
    func `a receiver that has more than the content ends a sender`() throws {
        var machine = try sender(at: 0)
        #expect(ending(machine.after { $0.received(frame(#"{"have":4,"sha256":"\#(digest)"}"#)) }) != nil)
        let header = try #require(TransferHeader(kind: .stream))
        var stream = SenderMachine(header: header)
        stream.after { $0.start() }
        #expect(ending(stream.after { $0.received(frame(#"{"have":1,"sha256":"\#(digest)"}"#)) }) != nil)
    }

    @Test
    func `messages of the other side are safe to display, and an unknown reason is a failure`() throws {
        var machine = try sender(at: 0)
        let actions = machine.after {
            $0.received(frame(#"{"error":{"reason":"tomorrow","message":"a\u001b[31mb\u202ec"}}"#))
        }
        guard let failure = ending(actions) else {
            Issue.record("it goes on")
            return
        }
        #expect(failure.reason == .failed && failure.isReported)
        #expect(failure.message == #"a\u{1B}[31mb\u{202E}c"#)
        #expect(failure.description == #"the other device reports: a\u{1B}[31mb\u{202E}c"#)
    }

    @Test
    func `every message is decoded as it was encoded, and unknown members are ignored`() throws {
        let full = try #require(
            TransferHeader(
                kind: .file, name: "ä b", size: 1 << 62, id: try transferID(), mode: 0o7755, modified: -5))
        #expect(full.mode == 0o755)
        for message in messages + [.header(full)] {
            #expect(try TransferFrame(decoding: message.encoded().dropFirst(4)) == message)
        }
        #expect(try TransferFrame(decoding: Array(#"{"go":true,"new":[1]}"#.utf8)[...]) == .go)
    }

    @Test(arguments: TransferFailure.Reason.allCases)
    func `the other device receives the reason, and nothing about local files`(_ reason: TransferFailure.Reason) throws
    {
        let failure = TransferFailure(reason, "cannot receive /home/ada/letter.odt")
        let bytes = TransferFrame.error(failure).encoded()
        guard case .error(let reported) = try TransferFrame(decoding: bytes.dropFirst(4)) else {
            Issue.record("no error")
            return
        }
        #expect(reported.reason == reason && reported.isReported && !reported.message.isEmpty)
        #expect(!reported.message.contains("ada"))
    }
}
