/// The network interfaces of the machine, as the kernel's tables show them (proc(5)).
enum InterfaceTable {
    /// The interfaces that have a route or an address, but for the one inside the machine; nil when no table can be read, or none
    /// is in use.
    static func inUse(_ machine: MachineFacts) -> Set<String>? {
        // The first line has the names of the columns.
        let routes = lines(machine.routes).dropFirst().compactMap { words($0).first }
        let addresses = lines(machine.addresses).compactMap { words($0).last }
        let names = Set(routes + addresses).subtracting(["lo"])
        return names.isEmpty ? nil : names
    }

    private static func lines(_ table: FileFact) -> [String] { ConfigurationText.lines(table.content ?? "") }

    private static func words(_ line: String) -> [String] {
        line.split(whereSeparator: \.isWhitespace).map(String.init)
    }
}
