/// Host names as browsers show them to extensions: in lower case, with non-ASCII labels as `xn--`
/// (RFC 3492).
enum HostName {
    /// Returns the name in ASCII without a final dot.
    ///
    /// - Returns: Nil for an empty label, or a character other than letters, digits, marks, `-` and
    ///   `_`. Letters with a separate accent (U+0300 to U+036F) are refused, because browsers
    ///   compose them. Numbers count as names.
    static func ascii(_ name: Substring) -> String? {
        var labels = name.lowercased().split(separator: ".", omittingEmptySubsequences: false)
        if labels.last?.isEmpty == true { labels.removeLast() }
        var result: [String] = []
        for label in labels {
            guard !label.isEmpty, label.unicodeScalars.allSatisfy(isAllowed) else { return nil }
            guard let encoded = label.utf8.allSatisfy({ $0 < 0x80 }) ? String(label) : punycode(label) else {
                return nil
            }
            result.append(encoded)
        }
        return result.isEmpty ? nil : result.joined(separator: ".")
    }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        if let byte = UInt8(exactly: scalar.value), byte < 0x80 { return WebPage.isHostByte(byte) }
        return !(0x300...0x36F).contains(scalar.value) && WebPage.isHostScalar(scalar)
            && (!scalar.properties.changesWhenNFKCCaseFolded || folded.contains(scalar))
    }

    /// Letters that full case folding would replace but that host names keep.
    private static let folded: Set<Unicode.Scalar> = ["\u{DF}", "\u{3C2}"]

    /// Returns the label as browsers write it; nil if it is too long to count its deltas.
    private static func punycode(_ label: Substring) -> String? {
        let scalars = label.unicodeScalars.map(\.value)
        var output = scalars.filter { $0 < 0x80 }.compactMap { UInt8(exactly: $0) }
        let basic = output.count
        guard scalars.count <= 63 else { return nil }
        if basic > 0 { output.append(UInt8(ascii: "-")) }
        var (code, delta, bias, done) = (UInt32(128), UInt32(0), UInt32(72), UInt32(basic))
        while done < scalars.count {
            guard let next = scalars.filter({ $0 >= code }).min() else { return nil }
            // A label has at most 63 scalars, so that a delta stays below 2^27.
            delta += (next - code) * (done + 1)
            code = next
            for scalar in scalars {
                if scalar < code { delta += 1 }
                guard scalar == code else { continue }
                output += digits(of: delta, bias: bias)
                bias = adapted(delta, count: done + 1, isFirst: done == basic)
                delta = 0
                done += 1
            }
            delta += 1
            code += 1
        }
        return "xn--" + String(decoding: output, as: UTF8.self)
    }

    /// Returns a variable-length integer, least significant digit first.
    private static func digits(of delta: UInt32, bias: UInt32) -> [UInt8] {
        var result: [UInt8] = []
        var (rest, weight) = (delta, UInt32(36))
        while true {
            let threshold = weight <= bias ? 1 : min(26, weight - bias)
            guard rest >= threshold else { break }
            result.append(digit(threshold + (rest - threshold) % (36 - threshold)))
            rest = (rest - threshold) / (36 - threshold)
            weight += 36
        }
        return result + [digit(rest)]
    }

    private static func digit(_ value: UInt32) -> UInt8 {
        UInt8(
            truncatingIfNeeded: value < 26 ? UInt32(UInt8(ascii: "a")) + value : UInt32(UInt8(ascii: "0")) + value - 26)
    }

    private static func adapted(_ delta: UInt32, count: UInt32, isFirst: Bool) -> UInt32 {
        var rest = isFirst ? delta / 700 : delta / 2
        rest += rest / count
        var steps: UInt32 = 0
        while rest > 455 {
            rest /= 35
            steps += 36
        }
        return steps + 36 * rest / (rest + 38)
    }
}
