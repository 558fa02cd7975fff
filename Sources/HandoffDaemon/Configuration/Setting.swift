/// A setting of the daemon: a row of the table `Setting.all`.
package struct Setting: Sendable {
    /// A heading of the file. It has no effect.
    package enum Section: String, Sendable, CaseIterable {
        case device
        case network
        case activities
        case log
    }

    /// When a changed value takes effect.
    package enum Application: Sendable {
        case onReload
        case atNextStart
    }

    /// The key in the file.
    package let key: String

    /// The heading in the shipped file and the manual page.
    package let section: Section

    package let applies: Application

    /// The description in the shipped file and the manual page, wrapped as in the file. Empty means
    /// that the description of the previous setting applies to this one, too.
    package let summary: String

    /// The allowed values, as the end of an error message.
    let allowed: String

    /// True if the setting may be given several times. Each adds a value.
    let isRepeatable: Bool

    /// The default as it is written in the file; empty if there is no text for it.
    package var defaultText: String { formatDefault() }

    private let formatDefault: @Sendable () -> String
    private let read: @Sendable (_ text: String, _ configuration: inout Configuration) -> Bool
    private let copy: @Sendable (_ source: Configuration, _ target: inout Configuration) -> Void
    private let isEqual: @Sendable (Configuration, Configuration) -> Bool

    typealias Property<Value> = any WritableKeyPath<Configuration, Value> & Sendable

    /// Creates a setting with one value. Its default is the initial value of the property.
    init<Value: Equatable & Sendable>(
        _ key: String, in section: Section, _ property: Property<Value>,
        _ type: SettingType<Value>, applies: Application = .onReload, _ summary: String
    ) {
        self.init(
            key, in: section, property, allowed: type.allowed, applies: applies, summary, text: type.text
        ) { text, value in
            guard let parsed = type.parse(text) else { return false }
            value = parsed
            return true
        }
    }

    /// Creates a setting that may be given several times. Its default is the initial value of the
    /// property.
    init<Element: Equatable & Sendable>(
        _ key: String, in section: Section, list property: Property<[Element]>,
        of type: SettingType<Element>, applies: Application = .onReload, _ summary: String
    ) {
        self.init(
            key, in: section, property, allowed: type.allowed, isRepeatable: true, applies: applies, summary,
            text: { $0.map(type.text).joined(separator: ",") }
        ) { text, list in
            guard let parsed = type.parse(text) else { return false }
            if !list.contains(parsed) { list.append(parsed) }
            return true
        }
    }

    private init<Value: Equatable & Sendable>(
        _ key: String, in section: Section, _ property: Property<Value>,
        allowed: String, isRepeatable: Bool = false, applies: Application, _ summary: String,
        text: @escaping @Sendable (Value) -> String, read: @escaping @Sendable (String, inout Value) -> Bool
    ) {
        self.key = key
        self.section = section
        self.applies = applies
        self.summary = summary
        self.allowed = allowed
        self.isRepeatable = isRepeatable
        formatDefault = { text(Configuration()[keyPath: property]) }
        self.read = { text, configuration in read(text, &configuration[keyPath: property]) }
        copy = { source, target in target[keyPath: property] = source[keyPath: property] }
        isEqual = { $0[keyPath: property] == $1[keyPath: property] }
    }

    /// Returns the setting with a key, or nil.
    static func named(_ key: String) -> Setting? { all.first { $0.key == key } }

    /// The environment variable of this setting, such as `HANDOFFD_LOG_LEVEL`.
    var variable: String {
        Self.variablePrefix + String(key.uppercased().map { character in character == "-" ? "_" : character })
    }

    /// The prefix of all variables of settings.
    static let variablePrefix = "HANDOFFD_"

    /// Sets this setting from text. An empty text restores the default.
    ///
    /// - Returns: false if the value is not allowed. The configuration is unchanged in that case.
    func apply(_ text: String, to configuration: inout Configuration) -> Bool {
        guard !text.isEmpty else {
            reset(in: &configuration)
            return true
        }
        return read(text, &configuration)
    }

    /// Restores the default of the setting.
    func reset(in configuration: inout Configuration) { copy(Configuration(), &configuration) }

    /// Returns whether the setting has the same value in both configurations.
    func isEqual(in one: Configuration, and other: Configuration) -> Bool { isEqual(one, other) }
}

extension Setting: Hashable {
    /// Two settings are the same if their keys are.
    package static func == (left: Setting, right: Setting) -> Bool { left.key == right.key }

    package func hash(into hasher: inout Hasher) { hasher.combine(key) }
}
