/// Reads the files of ufw and firewalld, as far as they concern a port. Nothing here decides more than it can know.
package enum FirewallText {
    /// The ports of which one is used where nothing else is configured, and which the profiles for firewalls have.
    static let usualPorts: ClosedRange<UInt16> = 24_863...24_872

    // MARK: - ufw

    /// Whether `ufw.conf` switches ufw on.
    static func ufwIsOn(_ text: String?) -> Bool {
        ConfigurationText.lines(text ?? "").contains { $0.lowercased() == "enabled=yes" }
    }

    /// Whether ufw lets a port in, both protocols: by itself, in a range, or by our profile. Multicast DNS is let in by the
    /// rules that ufw comes with.
    ///
    /// - Parameters:
    ///   - rules: `user.rules`.
    ///   - defaults: `/etc/default/ufw`.
    /// - Returns: nil where a rule also keeps it out, so that their order decides.
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

    /// The name of the default zone that `firewalld.conf` gives; nil for what is no name of a file.
    static func firewalldDefaultZone(_ text: String) -> String? {
        let line = ConfigurationText.lines(text).last { $0.hasPrefix("DefaultZone=") }
        let name = ConfigurationText.trimmed(String((line ?? "DefaultZone=public").dropFirst(12)))
        return isZoneName(name) ? name : nil
    }

    /// Whether a zone may have this name, which is also the name of a file and a word of a command.
    static func isZoneName(_ name: String) -> Bool {
        !name.isEmpty
            && name.unicodeScalars.allSatisfy { scalar in
                scalar.isASCII && (scalar.properties.isAlphabetic || "0123456789_-".unicodeScalars.contains(scalar))
            }
    }

    /// The interfaces that a zone of firewalld is bound to by its file.
    static func firewalldInterfaces(_ zone: String) -> Set<String> {
        let named = tags(zone).filter { $0.hasPrefix("interface ") }.flatMap { words(of: $0) }
        return Set(named.filter { $0.hasPrefix("name=") }.map { String($0.dropFirst(5)) }.filter { !$0.isEmpty })
    }

    /// Whether a zone of firewalld is for some senders alone, wherever they come in.
    static func firewalldHasSources(_ zone: String) -> Bool {
        tags(zone).contains { $0.hasPrefix("source ") }
    }

    /// Whether a zone of firewalld lets a port and multicast DNS in: by our service, or by themselves.
    static func firewalldAllows(_ port: UInt16, _ zone: String) -> Bool {
        let tags = tags(zone)
        if tags.contains(where: { $0.hasPrefix("zone ") && $0.contains("target=ACCEPT") }) { return true }
        func has(service: String) -> Bool {
            tags.contains { $0.hasPrefix("service ") && words(of: $0).contains("name=\(service)") }
        }
        let hasService = has(service: "handoff")
        if usualPorts.contains(port), hasService { return true }
        func isOpen(_ port: UInt16, _ kind: String) -> Bool {
            tags.contains { tag in
                guard tag.hasPrefix("port ") else { return false }
                let words = words(of: tag)
                guard words.contains("protocol=\(kind)"), let range = words.first(where: { $0.hasPrefix("port=") })
                else { return false }
                return covers(String(range.dropFirst(5).map { $0 == "-" ? ":" : $0 }), port)
            }
        }
        // Our service has multicast DNS with it.
        let hasMulticast = hasService || has(service: "mdns") || isOpen(5353, "udp")
        return isOpen(port, "tcp") && isOpen(port, "udp") && hasMulticast
    }

    /// The tags of a file, without quotes.
    private static func tags(_ text: String) -> [String] {
        text.split(separator: "<").map { $0.filter { $0 != "\"" && $0 != "'" } }
    }

    /// The name and the attributes of a tag, without quotes.
    private static func words(of tag: String) -> [Substring] {
        tag.split { $0.isWhitespace || $0 == "/" || $0 == ">" }
    }

    // MARK: - Ports

    /// Whether a list of ports and ranges (`80,24863:24872`) has a port; `any` has all.
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

/// Lines and words of the small files that say how a machine is set up, whoever reads them.
enum ConfigurationText {
    /// The lines without blanks at their ends.
    static func lines(_ text: String) -> [String] {
        text.split(whereSeparator: \.isNewline).map { trimmed(String($0)) }
    }

    /// A text without blanks and line ends around it.
    static func trimmed(_ text: String) -> String {
        let isBlank = { (character: Character) in character.isWhitespace }
        return String(text.drop(while: isBlank).reversed().drop(while: isBlank).reversed())
    }
}
