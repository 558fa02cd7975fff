import HandoffControl
import HandoffModel
import LoopIO

/// The switches, for people.
enum SwitchText {
    /// What is on, and a line for each reason why something is not.
    static func text(_ switches: ControlSwitches) -> String {
        let state = "advertising \(word(switches.advertising)), receiving \(word(switches.receiving))"
        return ([state] + switches.holds.map(line)).joined(separator: "\n")
    }

    private static func word(_ isOn: Bool) -> String { isOn ? "on" : "off" }

    private static func line(_ hold: ControlHold) -> String {
        VisibleText.escape(hold.message) + (hold.until.map { " until \(LocalTime.text($0))" } ?? "")
    }
}
