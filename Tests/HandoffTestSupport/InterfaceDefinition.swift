package import HandoffControl
package import HandoffJSON

/// The objects of an interface file: its types, the parameters and results of its methods, and the
/// fields of its errors.
package struct InterfaceDefinition: Sendable {
    /// The kind of a field.
    package indirect enum Kind: Equatable, Sendable {
        /// `string`, `int`, `float`, `bool` or `object`.
        case basic(String)
        /// One of several values.
        case words([String])
        /// A list.
        case list(Kind)
        /// A named type.
        case named(String)
    }

    /// A field of an object.
    package struct Field: Sendable {
        /// Its name.
        package let name: String
        /// Its kind.
        package let kind: Kind
        /// True if it may be null or absent.
        package let isOptional: Bool
    }

    /// Types and errors by name. Methods are `Name(` for the parameters and `Name)` for the
    /// results.
    private var objects: [String: [Field]] = [:]
    /// Types that are one of several values.
    private var words: [String: [String]] = [:]

    /// Parses a definition that is known to be valid.
    package init(_ interface: VarlinkInterface) {
        let lines = interface.description.split(separator: "\n").filter { !$0.hasPrefix("#") }
        var rest = Substring(lines.joined(separator: " "))
        while let keyword = Self.word(&rest) {
            let name = Self.word(&rest) ?? ""
            switch keyword {
            case "interface": continue
            case "method":
                objects[name + "("] = Self.fields(Self.parentheses(&rest))
                objects[name + ")"] = Self.fields(Self.parentheses(&rest))
            default:
                let inside = Self.parentheses(&rest)
                if inside.contains(":") || inside.isEmpty {
                    objects[name] = Self.fields(inside)
                } else {
                    words[name] = Self.parts(inside)
                }
            }
        }
    }

    /// The objects with fields, sorted.
    package var names: [String] {
        objects.filter { !$0.value.isEmpty }.keys.sorted()
    }

    /// The fields of an object, or none if there is no such object.
    package func fields(of object: String) -> [Field] {
        objects[object] ?? []
    }

    /// The kind, with the values of a named type that is one of several.
    package func resolved(_ kind: Kind) -> Kind {
        if case .named(let name) = kind, let words = words[name] { .words(words) } else { kind }
    }

    /// An object with every field.
    /// - Parameter text: returns the text for a field name.
    package func sample(of object: String, text: (String) -> String) -> JSONObject {
        JSONObject(fields(of: object).map { ($0.name, sample(of: $0.kind, named: $0.name, text: text)) })
    }

    private func sample(of kind: Kind, named name: String, text: (String) -> String) -> JSON {
        switch resolved(kind) {
        case .basic("int"): 4608  // In every range, and a valid failure code.
        case .basic("float"): 1.5
        case .basic("bool"): true
        case .basic("object"): .object(["n": 1])
        case .basic: .string(text(name))
        case .words(let words): .string(words.first ?? "")
        case .list(let element): [sample(of: element, named: name, text: text)]
        case .named(let type): .object(sample(of: type, text: text))
        }
    }

    // MARK: - Parsing

    private static func word(_ rest: inout Substring) -> String? {
        rest = rest.drop { !$0.isLetter && $0 != "(" }
        let word = rest.prefix { $0 != " " && $0 != "(" }
        rest = rest.dropFirst(word.count)
        return word.isEmpty ? nil : String(word)
    }

    /// The text between the next parenthesis and its matching one.
    private static func parentheses(_ rest: inout Substring) -> Substring {
        rest = rest.drop { $0 != "(" }.dropFirst()
        var depth = 1
        let inside = rest.prefix { character in
            depth += character == "(" ? 1 : character == ")" ? -1 : 0
            return depth > 0
        }
        rest = rest.dropFirst(inside.count + 1)
        return inside
    }

    /// The parts between commas outside parentheses.
    private static func parts(_ text: Substring) -> [String] {
        var depth = 0
        return text.split { character in
            depth += character == "(" ? 1 : character == ")" ? -1 : 0
            return depth == 0 && character == ","
        }.map { String($0.drop { $0 == " " }) }.filter { !$0.isEmpty }
    }

    private static func fields(_ text: Substring) -> [Field] {
        parts(text).map { part in
            let name = part.prefix { $0 != ":" }
            let kind = part.dropFirst(name.count + 1).drop { $0 == " " }
            return Field(
                name: String(name), kind: Self.kind(kind.drop { $0 == "?" }), isOptional: kind.hasPrefix("?"))
        }
    }

    private static func kind(_ text: Substring) -> Kind {
        if text.hasPrefix("[]") { return .list(kind(text.dropFirst(2))) }
        if text.hasPrefix("(") { return .words(parts(text.dropFirst().prefix { $0 != ")" })) }
        let name = String(text.prefix { $0 != " " })
        return name.first?.isUppercase == true ? .named(name) : .basic(name)
    }
}
