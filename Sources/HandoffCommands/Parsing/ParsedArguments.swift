/// The arguments of one command, taken apart but not yet understood.
package struct ParsedArguments: Sendable, Equatable {
    /// Operands in the order in which they were given.
    package var operands: [String]
    /// The flags that were given, with their dashes.
    package var flags: Set<String>
    /// The values of each option, in the order in which they were given.
    package var values: [String: [String]]

    package init(operands: [String] = [], flags: Set<String> = [], values: [String: [String]] = [:]) {
        self.operands = operands
        self.flags = flags
        self.values = values
    }

    /// Whether the flag was given.
    package func has(_ flag: String) -> Bool { flags.contains(flag) }

    /// The value of an option that may be given once.
    package func value(_ option: String) -> String? { values[option]?.last }

    /// All values of an option that may be repeated.
    package func all(_ option: String) -> [String] { values[option] ?? [] }
}
