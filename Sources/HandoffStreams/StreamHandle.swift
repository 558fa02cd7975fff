internal import LoopIO

/// A stream as used by other threads. Commands run on its loop, and events are reported.
package final class StreamHandle: Sendable {
    /// The events of a stream, in this order. Reported on the thread of its loop.
    package enum Event: Sendable, Equatable {
        /// The client sent a ticket. Reply with `accept` or `close`.
        case ticket([UInt8])
        /// Bytes have moved. Reported at most about once a second.
        case moved
        /// The stream ended before a word was received, and no bytes were read from the app.
        /// Returns the app's end, for another connection. No more events follow.
        case untaken(HandedDescriptor, String)
        /// The stream ended. No more events follow.
        case ended(StreamReport)
    }

    /// The first action of a side.
    package enum Greeting: Sendable {
        /// Send this ticket. The stream is open immediately. It ends as untaken or gone if the
        /// server does not accept the ticket.
        case show(ticket: [UInt8])
        /// Wait for a ticket.
        case await
    }

    /// A weak reference to the connection.
    private struct Place {
        weak var connection: StreamConnection?
    }

    /// The loop of the connection.
    package let loop: StreamLoop
    private let place: LoopBound<Place>

    /// Starts a stream over a connection that has completed its TLS handshake.
    ///
    /// - Parameter report: called on the loop's thread.
    package init(
        _ channel: StreamChannel, greeting: Greeting, on loop: StreamLoop, times: StreamTimes = StreamTimes(),
        report: @escaping @Sendable (Event) -> Void
    ) {
        self.loop = loop
        place = LoopBound(sending: Place(), to: loop.loop)
        loop.perform { [place] in
            do throws(Errno) {
                let connection = try StreamConnection(channel, on: loop, times: times, report: report)
                place.value.connection = connection
                connection.start(greeting)
            } catch {
                report(.ended(StreamReport(end: .gone("\(error)"), sent: 0, received: 0)))
            }
        }
    }

    /// Accepts the client's ticket.
    package func accept() {
        onLoop { $0.accept() }
    }

    /// Rejects the ticket by closing the connection without a reply.
    package func close() {
        onLoop { $0.refuse() }
    }

    /// Attaches the local end, a unix stream socket. Bytes flow from now on.
    package func attach(_ descriptor: HandedDescriptor) {
        onLoop { $0.attach(descriptor) }
    }

    /// Replaces the local end with a passed file for a part of a direction.
    ///
    /// - Parameter report: called on the loop's thread.
    package func pass(_ part: FilePart, report: @escaping @Sendable (FilePart.Event) -> Void) {
        loop.perform { [place] in
            guard let connection = place.value.connection else { return report(.failed(0, "the stream is over")) }
            connection.pass(part, report: report)
        }
    }

    /// Starts to move bytes between the app and the stream through memory.
    ///
    /// - Parameter report: called once, on the loop's thread.
    package func share(_ memory: PassedMemory, report: @escaping @Sendable (PassedMemory.Outcome) -> Void) {
        loop.perform { [place] in
            report(place.value.connection?.share(memory) ?? .failed("the stream is over"))
        }
    }

    /// Ends the stream early.
    package func reset(_ reset: StreamReset) {
        onLoop { $0.reset(reset) }
    }

    private func onLoop(_ body: @escaping @Sendable (StreamConnection) -> Void) {
        loop.perform { [place] in
            if let connection = place.value.connection { body(connection) }
        }
    }
}

/// The timeouts of a stream. Tests reduce them.
package struct StreamTimes: Sendable {
    /// The timeout for the other side's ticket.
    var greeting = Duration.seconds(5)
    /// The timeout of a stream on which no bytes move.
    var idle = Duration.seconds(3600)
    /// The timeout of a stream whose app has closed its end while the other side does not accept
    /// that app's remaining bytes.
    var orphaned = Duration.seconds(60)
    /// The time for the other side to receive the last bytes after the stream has ended.
    var linger = Duration.seconds(5)

    /// The timeouts of the protocol.
    package init() {}
}
