/// Parses `nftables.conf`, or the output of `nft list ruleset`, for a port. Does not judge rules
/// that it does not fully understand.
package enum NftablesText {
    /// The effect of a rule on the port.
    private enum Meaning {
        /// Accepts these protocols from any source.
        case opens(Set<String>)
        /// Accepts or blocks something else.
        case other
        /// Blocks everything that reaches it.
        case shuts
        /// Blocks the port for these protocols.
        case closes(Set<String>)
        /// May affect the port.
        case unclear
    }

    /// Returns whether the rules allow a port for TCP and UDP, and multicast DNS; nil if this
    /// cannot be decided without running them.
    package static func allows(_ port: UInt16, _ text: String) -> Bool? {
        guard let chains = inputChains(text) else { return nil }
        var isOpen: Bool? = true
        // A packet that one chain blocks is not accepted by another.
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
                // The first matching rule decides.
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
            // `list ruleset` includes the counts: counter packets 0 bytes 0.
            let end = words[counter...].dropFirst().first == "packets" ? counter + 5 : counter + 1
            words.removeSubrange(counter..<min(end, words.count))
        }
        if let reject = words.firstIndex(of: "reject") { words.removeSubrange((reject + 1)...) }
        if let comment = words.firstIndex(of: "comment") { words = Array(words[..<comment]) }
        guard let first = words.first, let last = words.last else { return .other }
        if first == "log" || first == "limit" { return last == "drop" || last == "reject" ? .unclear : .other }
        if first == "drop" || first == "reject" { return .shuts }
        if words.count == 1, first == "accept" { return .opens(["tcp", "udp"]) }
        // Rules for established connections, for ICMP, and for this machine itself.
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

    /// Returns the ports of a rule: one, a range, or a set of both; nil for unknown names and other
    /// syntax.
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

    /// Returns the rules of each chain hooked to input; nil if the text contains constructs that
    /// can stand for any rules.
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
                    // Chains that they jump to are not followed.
                    let jumps = ["jump", "goto", "vmap", "@"]
                    if chain.contains(where: { rule in jumps.contains(where: rule.contains) }) { return nil }
                    chains.append(chain)
                }
                chain = nil
            } else {
                let rules = bare.split(separator: ";").map { ConfigurationText.trimmed(String($0)) }
                chain? += rules.filter { !$0.isEmpty }
            }
        }
        // An unterminated chain was not understood.
        return chain == nil ? chains : nil
    }
}
