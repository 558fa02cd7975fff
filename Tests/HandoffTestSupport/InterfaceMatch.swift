package import HandoffJSON

/// The differences between a value or its encoding and the interface file; empty if there are none.
extension InterfaceDefinition {
    /// Compares a value whose properties are its fields. It must decode every field of the object
    /// and each of several allowed values, require exactly the fields that are not optional, and
    /// encode them with the same names.
    /// - Parameter text: returns the text for a field name.
    package func differences<Value: Codable>(
        of type: Value.Type, from object: String, text: (String) -> String
    ) -> [String] {
        let fields = fields(of: object)
        let whole = sample(of: object, text: text)
        var differences: [String] = []
        func reads(_ object: JSONObject, _ field: Field) -> Bool {
            do throws(JSONPath) {
                _ = try object.decoded(as: type)
                return true
            } catch {
                if error.path != field.name { differences.append("an error at '\(error.path)' for \(field.name)") }
                return false
            }
        }
        guard !fields.isEmpty else { return ["the file has no \(object)"] }
        do throws(JSONPath) {
            let written = JSONObject(encoding: try whole.decoded(as: type), absent: .null)
            if written != whole { differences.append("\(whole.encodedText) becomes \(written.encodedText)") }
        } catch {
            return ["\(error.path) is not read"]
        }
        for field in fields {
            for absent in [nil, .null] as [JSON?] {
                var without = whole
                without[field.name] = absent
                if reads(without, field) != field.isOptional {
                    differences.append("\(field.name) may be absent or not")
                }
            }
            guard case .words(let words) = resolved(field.kind) else { continue }
            for word in words + ["?"] {
                var other = whole
                other[field.name] = .string(word)
                // A newer daemon may reply with other words, but must reject those of a newer client.
                let isRequest = object.hasSuffix("(") || ["ActivityDescription", "ActivityChange"].contains(object)
                let isAccepted = word != "?" || !isRequest
                if reads(other, field) != isAccepted { differences.append("\(field.name): \(word)") }
            }
        }
        return differences
    }

    /// Compares an encoded object. It must contain only fields of the object, each of its kind, and
    /// all that are not optional.
    package func differences(in written: JSONObject, from object: String) -> [String] {
        let fields = fields(of: object)
        let unknown = written.keys.filter { key in !fields.contains { $0.name == key } }
        return unknown.map { "\(object) has no \($0)" }
            + fields.flatMap { field in
                switch written[field.name] {
                case nil, .null?: field.isOptional ? [] : ["\(field.name) is not there"]
                case let value?: differences(in: value, kind: field.kind).map { "\(field.name): \($0)" }
                }
            }
    }

    private func differences(in value: JSON, kind: Kind) -> [String] {
        switch (resolved(kind), value) {
        case (.basic("string"), .string), (.basic("int"), .integer), (.basic("float"), .real): []
        case (.basic("bool"), .bool), (.basic("object"), .object): []
        case (.words(let words), .string(let word)) where words.contains(word): []
        case (.list(let kind), .array(let elements)): elements.flatMap { differences(in: $0, kind: kind) }
        case (.named(let type), .object(let object)): differences(in: object, from: type)
        case (let kind, _): ["not \(kind)"]
        }
    }
}

extension JSONObject {
    fileprivate var encodedText: String { String(decoding: encoded(), as: UTF8.self) }
}
