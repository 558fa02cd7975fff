/// Reads `nftables.conf`, or what `nft list ruleset` writes, as far as it concerns a port. What it does not understand for certain it
/// does not judge.
package enum NftablesText {
    /// What a rule means for the port.
    private enum Meaning {
        /// It lets these protocols in, from everywhere.
        case opens(Set<String>)
        /// It lets in something else, or keeps out something else.
        case other
        /// It keeps all out that comes to it.
        case shuts
        /// It keeps the port out for these protocols.
        case closes(Set<String>)
        /// It may be about the port.
        case unclear
    }

    /// Whether it lets a port in for TCP and UDP, and multicast DNS; nil where only running it would tell.
    package static func allows(_ port: UInt16, _ text: String) -> Bool? {
        guard let chains = inputChains(text) else { return nil }
        var isOpen: Bool? = true
        // What one chain keeps out no other one lets in.
        for rules in chains {
            switch verdict(of: rules, port) {
            case false?: return false
            case nil: isOpen = nil
            case true?: break
            }
        }
        return isOpen
    }

    private static func verdict(of rules: [String], _ port: UInt16) -> Bool? {
        var isShut = false
        var open: Set<String> = []
        var hasMulticast = false
        var isClear = true
        for rule in rules {
            if rule.hasPrefix("type "), rule.contains("hook input") { continue }
            if rule == "policy drop" { isShut = true }
            if rule.hasPrefix("policy ") { continue }
            switch meaning(of: rule, port) {
            case .opens(let protocols): open.formUnion(protocols)
            case .shuts: isShut = true
            case .closes(let protocols):
                // The first rule that fits decides.
                if !protocols.isSubset(of: open) { return isClear ? false : nil }
            case .unclear: isClear = false
            case .other: break
            }
            switch meaning(of: rule, 5353) {
            case .opens(let protocols): if protocols.contains("udp") { hasMulticast = true }
            case .closes(let protocols):
                if protocols.contains("udp"), !hasMulticast { return isClear ? false : nil }
            case .shuts, .unclear, .other: break
            }
        }
        if isShut, open.isSuperset(of: ["tcp", "udp"]), hasMulticast { return isClear ? true : nil }
        return isClear ? !isShut : nil
    }

    private static func meaning(of rule: String, _ port: UInt16) -> Meaning {
        var words = rule.replacing(",", with: " , ").replacing("{", with: " { ").replacing("}", with: " } ")
            .split(whereSeparator: \.isWhitespace).map(String.init)
        if let counter = words.firstIndex(of: "counter") {
            // A list has its numbers: counter packets 0 bytes 0.
            let end = words[counter...].dropFirst().first == "packets" ? counter + 5 : counter + 1
            words.removeSubrange(counter..<min(end, words.count))
        }
        if let reject = words.firstIndex(of: "reject") { words.removeSubrange((reject + 1)...) }
        if let comment = words.firstIndex(of: "comment") { words = Array(words[..<comment]) }
        guard let first = words.first, let last = words.last else { return .other }
        if first == "log" || first == "limit" { return last == "drop" || last == "reject" ? .unclear : .other }
        if first == "drop" || first == "reject" { return .shuts }
        if words.count == 1, first == "accept" { return .opens(["tcp", "udp"]) }
        // What belongs to a connection, is no connection at all, or comes from this machine.
        let harmless = [
            ["ct", "state"], ["iif", "lo"], ["iif", "\"lo\""], ["iifname", "lo"], ["iifname", "\"lo\""],
            ["ip", "protocol", "icmp"], ["ip6", "nexthdr", "icmpv6"], ["ip6", "nexthdr", "ipv6-icmp"],
            ["meta", "l4proto", "icmp"], ["meta", "l4proto", "ipv6-icmp"], ["icmp"], ["icmpv6"],
        ]
        if harmless.contains(where: { words.starts(with: $0) }), !words.contains("new") { return .other }
        var protocols: Set<String> = [first]
        let keepsOut = last == "drop" || last == "reject"
        if [["meta", "l4proto"], ["ip", "protocol"], ["ip6", "nexthdr"]].contains(where: { words.starts(with: $0) }) {
            let named = Set(words.dropFirst(2).dropLast()).subtracting(["{", "}", ","])
            if keepsOut, named.isSubset(of: ["tcp", "udp"]) { return .closes(named) }
        }
        if words.starts(with: ["meta", "l4proto"]), let end = words.firstIndex(of: "th") {
            protocols = Set(words[2..<end]).subtracting(["{", "}", ","])
            words = Array(words[end...])
        }
        guard words.count >= 4, words[1] == "dport", protocols.isSubset(of: ["tcp", "udp"]),
            let range = ports(Array(words[2..<(words.count - 1)]))
        else { return .unclear }
        guard range.contains(where: { $0.contains(port) }) else { return .other }
        return last == "accept" ? .opens(protocols) : keepsOut ? .closes(protocols) : .unclear
    }

    /// The ports of a rule: one, a range, or a set of both; nil for names and for what else may stand there.
    private static func ports(_ words: [String]) -> [ClosedRange<UInt16>]? {
        var ranges: [ClosedRange<UInt16>] = []
        for word in words where !["{", "}", ","].contains(word) {
            if word == "mdns" {
                ranges.append(5353...5353)
            } else if ["ssh", "http", "https", "domain"].contains(word) {
                continue
            } else {
                let ends = word.split(separator: "-", omittingEmptySubsequences: false).map { UInt16($0) }
                guard let first = ends.first ?? nil, let last = ends.last ?? nil, ends.count <= 2, first <= last else {
                    return nil
                }
                ranges.append(first...last)
            }
        }
        return ranges
    }

    /// The rules of each chain that what comes to this machine goes through; nil for words that may stand for any rules.
    private static func inputChains(_ text: String) -> [[String]]? {
        var chains: [[String]] = []
        var chain: [String]?
        var depth = 0
        for line in ConfigurationText.lines(text) {
            let bare = ConfigurationText.trimmed(String(line.prefix { $0 != "#" }))
            if ["include", "define", "$"].contains(where: bare.contains) { return nil }
            if chain == nil {
                if bare.hasPrefix("chain "), bare.hasSuffix("{") {
                    chain = []
                    depth = 1
                } else if bare.hasPrefix("chain ") || bare.contains("hook ") {
                    return nil
                }
                continue
            }
            let closed = bare.count { $0 == "}" } - bare.count { $0 == "{" }
            depth -= closed
            if depth <= 0 {
                if let chain, chain.contains(where: { $0.contains("hook input") }) {
                    // Other chains that they lead to are not followed.
                    let ways = ["jump", "goto", "vmap", "@"]
                    if chain.contains(where: { rule in ways.contains(where: rule.contains) }) { return nil }
                    chains.append(chain)
                }
                chain = nil
            } else {
                let rules = bare.split(separator: ";").map { ConfigurationText.trimmed(String($0)) }
                chain? += rules.filter { !$0.isEmpty }
            }
        }
        // A chain that does not end was not understood.
        return chain == nil ? chains : nil
    }
}
