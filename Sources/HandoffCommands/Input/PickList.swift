import LoopIO

/// A list on a terminal from which the user picks a line by arrow keys or number. Maps keys to
/// outcomes, without I/O.
struct PickList: Equatable, Sendable {
    /// The result of a key.
    enum Outcome: Equatable, Sendable {
        /// No change.
        case none
        /// Another line is selected.
        case moved
        /// The line at this index was picked.
        case picked(Int)
        /// The user left without a choice.
        case left
    }

    /// The number of lines shown at a time.
    static let height = 9

    /// The number of lines; at least one.
    let count: Int
    /// The index of the selected line.
    private(set) var selected = 0
    /// The index of the first line shown.
    private(set) var first = 0
    /// The number being typed, while one digit could be the start of several numbers.
    private var number = 0

    init(count: Int) {
        self.count = max(1, count)
    }

    /// The indices of the lines shown.
    var visible: Range<Int> { first..<min(count, first + Self.height) }

    /// Handles a key. Lines are numbered from 1.
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
        // Two digits are enough for any list that a user reads.
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
