/// One message of the transfer protocol.
package enum TransferFrame: Hashable, Sendable {
    /// Sender: what is about to come.
    case header(TransferHeader)
    /// Receiver: what is there already.
    case have(TransferHave)
    /// Sender: where it begins.
    case start(TransferStart)
    /// Receiver: the content may come.
    case go
    /// Sender: the digest of the whole content, behind it.
    case digest(ContentDigest)
    /// Receiver: it is verified, stored and has its name.
    case done
    /// Either: it has failed.
    case error(TransferFailure)
}

/// What a receiver has from an attempt before.
package struct TransferHave: Hashable, Sendable {
    /// How many bytes of the beginning, 0…2^62.
    package let offset: Int64
    /// The digest of these bytes; nil for none.
    package let digest: ContentDigest?

    /// Nil when only one of the two says that something is there, or the offset is out of its range.
    package init?(offset: Int64, digest: ContentDigest?) {
        guard (0...TransferLimits.size).contains(offset), (offset > 0) == (digest != nil) else { return nil }
        self.offset = offset
        self.digest = digest
    }

    /// Nothing is there.
    package static let nothing = TransferHave(none: ())

    private init(none: Void) {
        offset = 0
        digest = nil
    }
}

/// Which part of the content a sender is about to send.
package struct TransferStart: Hashable, Sendable {
    /// The first byte, counted from the beginning of the content.
    package let offset: Int64
    /// How many bytes; nil when that is not known.
    package let length: Int64?

    /// Nil when a number is out of the range 0…2^62.
    package init?(offset: Int64, length: Int64?) {
        guard (0...TransferLimits.size).contains(offset) else { return nil }
        if let length, !(0...TransferLimits.size).contains(length) { return nil }
        self.offset = offset
        self.length = length
    }
}
