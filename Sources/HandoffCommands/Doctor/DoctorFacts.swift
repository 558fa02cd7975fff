package import HandoffControl

/// All that `doctor` has found out; what it means is decided by `Doctor`. Plain values.
package struct DoctorFacts: Sendable {
    /// What the daemon says of itself; nil when it cannot be asked.
    package var status: ControlStatus?
    /// Why it cannot be asked.
    package var unreachable: String?
    /// Whether it answers at first, and then no more.
    package var isStuck: Bool
    /// What only the daemon knows; nil when it does not tell.
    package var diagnosis: ControlDiagnosis?
    /// The apps here; nil when the daemon does not tell.
    package var apps: [ControlApp]?
    /// What the machine says.
    package var machine: MachineFacts

    /// Facts with these properties.
    package init(
        status: ControlStatus? = nil, unreachable: String? = nil, isStuck: Bool = false,
        diagnosis: ControlDiagnosis? = nil, apps: [ControlApp]? = nil, machine: MachineFacts = MachineFacts()
    ) {
        self.status = status
        self.unreachable = unreachable
        self.isStuck = isStuck
        self.diagnosis = diagnosis
        self.apps = apps
        self.machine = machine
    }
}
