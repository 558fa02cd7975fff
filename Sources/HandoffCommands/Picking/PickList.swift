import LoopIO

/// A list on a terminal of which a person picks one line by arrow keys or by its number. Plain values: a key in, what to do out.
struct PickList: Equatable, Sendable {
    /// What a key leads to.
    enum Outcome: Equatable, Sendable {
        /// Nothing has changed.
        case none
        /// Another line is selected.
        case moved
        /// The line at this index was picked.
        case picked(Int)
        /// The person has left without a choice.
        case left
    }

    /// Lines that are shown at a time.
    static let height = 9

    /// How many lines there are; at least one.
    let count: Int
    /// The index of the selected line.
    private(set) var selected = 0
    /// The index of the first line that is shown.
    private(set) var first = 0
    /// The number that is being typed, where one digit does not say which line is meant.
    private var number = 0

    init(count: Int) {
        self.count = max(1, count)
    }

    /// The indices of the lines that are shown.
    var visible: Range<Int> { first..<min(count, first + Self.height) }

    /// A key was pressed. Lines are numbered from 1.
    mutating func press(_ key: TerminalKey) -> Outcome {
        guard case .digit(let digit) = key else {
            number = 0
            switch key {
            case .up: return select(selected - 1)
            case .down: return select(selected + 1)
            case .home: return select(0)
            case .end: return select(count - 1)
            case .enter: return .picked(selected)
            case .leave: return .left
            case .digit: return .none
            }
        }
        // Two digits reach every line of a list that a person reads.
        let longer = number < 100 ? number * 10 + digit : digit
        number = (1...count).contains(longer) ? longer : digit
        guard (1...count).contains(number) else { return .none }
        if number * 10 > count { return .picked(number - 1) }
        return select(number - 1)
    }

    private mutating func select(_ index: Int) -> Outcome {
        guard (0..<count).contains(index), index != selected else { return .none }
        selected = index
        if index < first { first = index }
        if index >= first + Self.height { first = index - Self.height + 1 }
        return .moved
    }
}
