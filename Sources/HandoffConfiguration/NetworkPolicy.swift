/// In which networks this device is found; the raw values are the words of the configuration file.
package enum NetworkPolicy: String, Sendable, CaseIterable {
    /// In all.
    case all

    /// Only in those that the user has said to be known.
    case known
}
