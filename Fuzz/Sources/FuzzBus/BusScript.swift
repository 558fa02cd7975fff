import FuzzSupport

/// The messages of a simulated bus after a client has authenticated: replies to one call after the
/// other, errors, signals, and unsolicited messages. All of it is known before the first call,
/// because a client numbers its calls.
enum BusScript {
    private static let maxMessages: UInt32 = 200

    /// Signals that a client follows, and some that none does: path, interface, member.
    private static let signals = [
        ("/org/freedesktop/login1", "org.freedesktop.login1.Manager", "SessionNew"),
        ("/org/freedesktop/login1", "org.freedesktop.login1.Manager", "SessionRemoved"),
        ("/org/freedesktop/login1/session/c1", "org.freedesktop.DBus.Properties", "PropertiesChanged"),
        ("/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged"),
        ("/org/freedesktop/Notifications", "org.freedesktop.Notifications", "NotificationClosed"),
        ("/org/freedesktop/Notifications", "org.freedesktop.Notifications", "ActivationToken"),
        ("/org/freedesktop/Notifications", "org.freedesktop.Notifications", "ActionInvoked"),
        ("/org/freedesktop/systemd1/unit/a", "org.freedesktop.DBus.Properties", "PropertiesChanged"),
        ("/org/freedesktop/DBus/Local", "org.freedesktop.DBus.Local", "Disconnected"),
        ("/", "a.b", "c"),
    ]

    private static let senders = [
        "org.freedesktop.DBus", ":1.1", ":1.7", "org.freedesktop.login1", "org.freedesktop.Notifications",
        "org.freedesktop.systemd1", "",
    ]

    private static let errors = [
        "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.UnknownMethod",
        "org.freedesktop.DBus.Error.PropertyReadOnly", "org.freedesktop.DBus.Error.NoReply",
        "org.freedesktop.DBus.Error.Spawn.ChildExited", "org.freedesktop.DBus.Error.Disconnected", "a.b",
    ]

    /// The bytes selected by an input.
    ///
    /// - Parameter first: the number of the first call whose reply is of interest. The calls before
    /// it subscribe to signals, which
    ///   succeeds: no signal is received before.
    static func bytes(_ input: inout Input, answering first: UInt32) -> [UInt8] {
        // Without a reply to its greeting a client sends nothing.
        var greeting = BusMessage(kind: .reply, serial: 1)
        greeting.answers = 1
        greeting.sender = "org.freedesktop.DBus"
        greeting.signature = Array("s".utf8)
        greeting.body.text(":1.9".utf8)
        var bytes = greeting.bytes
        for call in 2..<first {
            var reply = BusMessage(kind: .reply, serial: call)
            reply.answers = call
            reply.sender = greeting.sender
            bytes += reply.bytes
        }
        var next = first
        for serial in first..<first + maxMessages where !input.isEmpty {
            let step = input.byte()
            var made: [UInt8]
            if step & 7 == 7 {
                made = input.bytes(Int(input.byte()))
            } else {
                made = message(step & 7, serial, answering: step & 7 == 6 ? UInt32(input.byte()) : next, &input).bytes
                if step & 7 < 5 { next += 1 }
            }
            // One wrong byte.
            if step & 0x80 != 0, !made.isEmpty {
                let place = Int(input.byte()) << 8 | Int(input.byte())
                made[place % made.count] ^= input.byte()
            }
            bytes += made
        }
        return bytes
    }

    private static func message(
        _ choice: UInt8, _ serial: UInt32, answering call: UInt32, _ input: inout Input
    ) -> BusMessage {
        var message = BusMessage(kind: choice == 4 ? .error : choice == 5 ? .signal : .reply, serial: serial)
        message.sender = senders[Int(input.byte()) % senders.count]
        if message.kind == .signal {
            (message.path, message.interface, message.member) = signals[Int(input.byte()) % signals.count]
        } else {
            message.answers = call
        }
        if message.kind == .error { message.error = errors[Int(input.byte()) % errors.count] }
        message.signature = message.kind == .error ? Array("s".utf8) : BusSignature.chosen(&input)
        message.body.values(message.signature, from: &input)
        return message
    }
}

/// A message of a bus.
struct BusMessage {
    enum Kind: UInt8 {
        case reply = 2
        case error, signal
    }

    let kind: Kind
    let serial: UInt32
    var path = ""
    var interface = ""
    var member = ""
    var error = ""
    /// The number of the call to which it replies.
    var answers: UInt32?
    var sender = ""
    var signature: [UInt8] = []
    var body = BusValue()

    init(kind: Kind, serial: UInt32) {
        self.kind = kind
        self.serial = serial
    }

    var bytes: [UInt8] {
        var fields = BusValue()
        func field(_ code: UInt8, _ type: String, _ write: (inout BusValue) -> Void) {
            fields.align(8)
            fields.byte(code)
            fields.signature(type.utf8)
            write(&fields)
        }
        let texts: [(code: UInt8, type: String, text: String)] = [
            (1, "o", path), (2, "s", interface), (3, "s", member), (4, "s", error), (7, "s", sender),
        ]
        for (code, type, text) in texts where !text.isEmpty { field(code, type) { $0.text(text.utf8) } }
        if let answers { field(5, "u") { $0.number(answers) } }
        if !signature.isEmpty { field(8, "g") { $0.signature(signature) } }

        var message = BusValue()
        // Little-endian, no reply wanted, version 1.
        for byte in [UInt8(ascii: "l"), kind.rawValue, 1, 1] { message.byte(byte) }
        message.number(UInt32(body.bytes.count))
        message.number(serial)
        message.number(UInt32(fields.bytes.count))
        return message.padded(fields.bytes) + body.bytes
    }
}
