package import HandoffModel

/// The parameters of `ShareMemory`; the two descriptors go beside them.
package struct ShareMemoryRequest: ControlRequest {
    /// The stream.
    package var stream: StreamID
    /// Bytes of the caller's direction that it has written to the raw connection; not negative.
    package var position: Int

    /// A request with these values.
    package init(stream: StreamID, position: Int) {
        self.stream = stream
        self.position = position
    }

    /// The number is in range.
    package func check() throws(VarlinkError) {
        guard position >= 0 else { throw .invalidParameter("position") }
    }
}

/// The results of `ShareMemory`.
package struct ShareMemoryReply: ControlValue {
    /// Bytes of the other direction that come by the raw connection.
    package var received: Int

    /// Results with this value.
    package init(received: Int) {
        self.received = received
    }
}
