package import HandoffControl

/// All that `doctor` has found out; what it means is decided by `Doctor`. Plain values.
package struct DoctorFacts: Sendable {
    /// How a daemon that said its status failed to answer what came after it.
    package enum Interruption: Equatable, Sendable {
        /// It was silent for as long as it may take.
        case silence
        /// It ended the connection, refused, or sent what makes no sense; why, for people.
        case failure(String)
    }

    /// What the daemon says of itself; nil when it cannot be asked.
    package var status: ControlStatus?
    /// Why it cannot be asked.
    package var unreachable: String?
    /// Why it did not answer all that came after its status; nil when it did.
    package var interruption: Interruption?
    /// What only the daemon knows; nil when it does not tell.
    package var diagnosis: ControlDiagnosis?
    /// The apps here; nil when the daemon does not tell.
    package var apps: [ControlApp]?
    /// What the machine says.
    package var machine: MachineFacts

    /// Facts with these properties.
    package init(
        status: ControlStatus? = nil, unreachable: String? = nil, interruption: Interruption? = nil,
        diagnosis: ControlDiagnosis? = nil, apps: [ControlApp]? = nil, machine: MachineFacts = MachineFacts()
    ) {
        self.status = status
        self.unreachable = unreachable
        self.interruption = interruption
        self.diagnosis = diagnosis
        self.apps = apps
        self.machine = machine
    }
}
