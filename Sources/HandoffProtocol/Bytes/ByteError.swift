/// Why bytes from outside cannot be read as the layout says.
package enum ByteError: Error, Equatable, Sendable {
    /// Fewer bytes are left than the next field needs.
    case truncated

    /// Bytes are left over where the layout ends.
    case trailing

    /// Text is not UTF-8, or a field has a value that its layout does not allow.
    case malformed
}
