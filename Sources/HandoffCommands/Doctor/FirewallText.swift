/// Parses the rules of ufw and firewalld for a port. Reports only what is certain.
package enum FirewallText {
    /// The default ports, of which the daemon uses one, and which the firewall profiles cover.
    static let defaultPorts: ClosedRange<UInt16> = 24_863...24_872

    // MARK: - ufw

    /// Returns true if `ufw.conf` enables ufw.
    static func ufwIsOn(_ text: String?) -> Bool {
        ConfigurationText.lines(text ?? "").contains { $0.lowercased() == "enabled=yes" }
    }

    /// Returns whether ufw allows a port for both protocols: by itself, in a range, or by our
    /// profile. The default rules of ufw allow multicast DNS.
    /// - Parameters:
    ///   - rules: the text of `user.rules`.
    ///   - defaults: the text of `/etc/default/ufw`.
    /// - Returns: nil if another rule blocks the port, because the result depends on their order.
    static func ufwAllows(_ port: UInt16, _ rules: String, defaults: String) -> Bool? {
        var open: Set<String> = []
        var isDenied = false
        for line in ConfigurationText.lines(rules) {
            // ### tuple ### allow PROTOCOL PORT DESTINATION SPORT SOURCE [DAPP SAPP] DIRECTION
            let words = line.split(separator: " ").map(String.init)
            guard words.count >= 9, words[0] == "###", words[1] == "tuple", words.last?.hasPrefix("out") == false,
                covers(words[5], port)
            else { continue }
            if ["allow", "limit"].contains(words[3]) {
                open.formUnion(words[4] == "any" ? ["tcp", "udp"] : [words[4]])
            } else {
                isDenied = true
            }
        }
        let isUsuallyOpen = ConfigurationText.lines(defaults).contains {
            $0.filter { $0 != "\"" } == "DEFAULT_INPUT_POLICY=ACCEPT"
        }
        let isOpen = isUsuallyOpen || open.isSuperset(of: ["tcp", "udp"])
        return isOpen && isDenied ? nil : isOpen
    }

    // MARK: - firewalld

    /// Returns the name of the default zone in `firewalld.conf`; nil if it is not a valid zone
    /// name.
    static func firewalldDefaultZone(_ text: String) -> String? {
        let line = ConfigurationText.lines(text).last { $0.hasPrefix("DefaultZone=") }
        let name = ConfigurationText.trimmed(String((line ?? "DefaultZone=public").dropFirst(12)))
        return isZoneName(name) ? name : nil
    }

    /// Returns true if a zone can have this name, which is also used as a file name and as an
    /// argument.
    static func isZoneName(_ name: String) -> Bool {
        !name.isEmpty
            && name.unicodeScalars.allSatisfy { scalar in
                scalar.isASCII && (scalar.properties.isAlphabetic || "0123456789_-".unicodeScalars.contains(scalar))
            }
    }

    /// Returns the interfaces that the file of a zone binds to it.
    static func firewalldInterfaces(_ zone: String) -> Set<String> {
        let named = tags(zone).filter { $0.hasPrefix("interface ") }.flatMap { words(of: $0) }
        return Set(named.filter { $0.hasPrefix("name=") }.map { String($0.dropFirst(5)) }.filter { !$0.isEmpty })
    }

    /// Returns true if a zone applies to certain senders, on any interface.
    static func firewalldHasSources(_ zone: String) -> Bool {
        tags(zone).contains { $0.hasPrefix("source ") }
    }

    /// Returns true if a zone allows a port and multicast DNS: by our service or explicitly.
    static func firewalldAllows(_ port: UInt16, _ zone: String) -> Bool {
        let tags = tags(zone)
        if tags.contains(where: { $0.hasPrefix("zone ") && $0.contains("target=ACCEPT") }) { return true }
        func has(service: String) -> Bool {
            tags.contains { $0.hasPrefix("service ") && words(of: $0).contains("name=\(service)") }
        }
        let hasService = has(service: "handoff")
        if defaultPorts.contains(port), hasService { return true }
        func isOpen(_ port: UInt16, _ kind: String) -> Bool {
            tags.contains { tag in
                guard tag.hasPrefix("port ") else { return false }
                let words = words(of: tag)
                guard words.contains("protocol=\(kind)"), let range = words.first(where: { $0.hasPrefix("port=") })
                else { return false }
                return covers(String(range.dropFirst(5).map { $0 == "-" ? ":" : $0 }), port)
            }
        }
        // Our service includes multicast DNS.
        let hasMulticast = hasService || has(service: "mdns") || isOpen(5353, "udp")
        return isOpen(port, "tcp") && isOpen(port, "udp") && hasMulticast
    }

    /// Returns the tags of a file, without quotes.
    private static func tags(_ text: String) -> [String] {
        text.split(separator: "<").map { $0.filter { $0 != "\"" && $0 != "'" } }
    }

    /// Returns the name and the attributes of a tag.
    private static func words(of tag: String) -> [Substring] {
        tag.split { $0.isWhitespace || $0 == "/" || $0 == ">" }
    }

    // MARK: - Ports

    /// Returns true if a list of ports and ranges (`80,24863:24872`) includes a port; `any`
    /// includes all.
    static func covers(_ list: String, _ port: UInt16) -> Bool {
        if list == "any" { return true }
        return list.split(separator: ",").contains { part in
            let ends = part.split(separator: ":").map { UInt16($0) }
            switch (ends.first, ends.last, ends.count) {
            case (let first??, let last??, 1...2): return first <= port && port <= last
            default: return false
            }
        }
    }
}

/// Splits configuration files into lines and words.
enum ConfigurationText {
    /// Returns the lines without leading and trailing whitespace.
    static func lines(_ text: String) -> [String] {
        text.split(whereSeparator: \.isNewline).map { trimmed(String($0)) }
    }

    /// Returns the text without leading and trailing whitespace.
    static func trimmed(_ text: String) -> String {
        let isBlank = { (character: Character) in character.isWhitespace }
        return String(text.drop(while: isBlank).reversed().drop(while: isBlank).reversed())
    }
}
