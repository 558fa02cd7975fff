package import HandoffModel

/// The parameters of `ShareMemory`. The two descriptors are sent with the message.
package struct ShareMemoryRequest: ControlRequest {
    /// The stream.
    package var stream: StreamID
    /// Number of bytes of the caller's direction that it has written to the raw connection; not
    /// negative.
    package var position: Int

    package init(stream: StreamID, position: Int) {
        self.stream = stream
        self.position = position
    }

    /// Checks that the number is in range.
    package func check() throws(VarlinkError) {
        guard position >= 0 else { throw .invalidParameter("position") }
    }
}

/// The results of `ShareMemory`.
package struct ShareMemoryReply: ControlValue {
    /// Number of bytes of the other direction that arrive on the raw connection.
    package var received: Int

    package init(received: Int) {
        self.received = received
    }
}
