internal import LoopIO

/// A stream as other threads see it: what it is told is done on its loop, and what happens to it is reported.
package final class StreamHandle: Sendable {
    /// What happens to a stream, in this order; reported on the thread of its loop.
    package enum Event: Sendable, Equatable {
        /// The client has shown a ticket; answer with `accept` or `close`.
        case ticket([UInt8])
        /// Bytes have moved; at most about once a second.
        case moved
        /// It is over before a word came, and nothing was taken from the app: its end is given back, for another connection.
        /// Nothing follows.
        case untaken(HandedDescriptor, String)
        /// It is over. Nothing follows.
        case ended(StreamReport)
    }

    /// The first thing that a side does.
    package enum Greeting: Sendable {
        /// Show this ticket; the stream is open at once, and ends as untaken or gone if the server does not take it.
        case show(ticket: [UInt8])
        /// Wait for a ticket.
        case await
    }

    /// The connection, as long as it lives.
    private struct Place {
        weak var connection: StreamConnection?
    }

    /// Where it lives.
    package let loop: StreamLoop
    private let place: LoopBound<Place>

    /// Begins a stream over a connection whose TLS is done.
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

    /// Takes the client's ticket.
    package func accept() {
        onLoop { $0.accept() }
    }

    /// Closes the connection without a byte: the ticket is no good.
    package func close() {
        onLoop { $0.refuse() }
    }

    /// Gives the stream its local end, a unix stream socket; from now on bytes flow.
    package func attach(_ descriptor: HandedDescriptor) {
        onLoop { $0.attach(descriptor) }
    }

    /// Puts a passed file in the place of the local end for a part of a direction.
    ///
    /// - Parameter report: called on the loop's thread.
    package func pass(_ part: FilePart, report: @escaping @Sendable (FilePart.Event) -> Void) {
        loop.perform { [place] in
            guard let connection = place.value.connection else { return report(.failed(0, "the stream is over")) }
            connection.pass(part, report: report)
        }
    }

    /// Moves the bytes between the app and the stream through memory from now on.
    ///
    /// - Parameter report: called once, on the loop's thread.
    package func share(_ memory: PassedMemory, report: @escaping @Sendable (PassedMemory.Outcome) -> Void) {
        loop.perform { [place] in
            report(place.value.connection?.share(memory) ?? .failed("the stream is over"))
        }
    }

    /// Ends it before its time.
    package func reset(_ reset: StreamReset) {
        onLoop { $0.reset(reset) }
    }

    private func onLoop(_ body: @escaping @Sendable (StreamConnection) -> Void) {
        loop.perform { [place] in
            if let connection = place.value.connection { body(connection) }
        }
    }
}

/// How long a stream waits; tests make these small.
package struct StreamTimes: Sendable {
    /// For the other side's ticket.
    package var greeting = Duration.seconds(5)
    /// Until a stream over which no byte moves is ended.
    package var idle = Duration.seconds(3600)
    /// Until a stream whose app has gone is ended although bytes of that app wait, because the other side takes none.
    package var orphaned = Duration.seconds(60)
    /// Until the other side has taken our last bytes, once the stream is over.
    package var linger = Duration.seconds(5)

    /// The times of the protocol.
    package init() {}
}
