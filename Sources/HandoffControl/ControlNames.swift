/// The names used on the control and app sockets, as in the interface files.
package enum ControlNames {
    /// The interface for the user's own tools.
    package static let controlInterface = "dev.handoff1.Control"
    /// The interface for apps.
    package static let appInterface = "dev.handoff1"
}

/// The methods of `dev.handoff1`. The raw value is the full name.
package enum AppMethod: String, Sendable, CaseIterable {
    case attach = "dev.handoff1.Attach"
    case declare = "dev.handoff1.Declare"
    case publish = "dev.handoff1.Publish"
    case update = "dev.handoff1.Update"
    case becomeCurrent = "dev.handoff1.BecomeCurrent"
    case resignCurrent = "dev.handoff1.ResignCurrent"
    case invalidate = "dev.handoff1.Invalidate"
    case answerSave = "dev.handoff1.AnswerSave"
    case answerContinue = "dev.handoff1.AnswerContinue"
    case reportReceived = "dev.handoff1.ReportReceived"
    case reportProgress = "dev.handoff1.ReportProgress"
    case openStream = "dev.handoff1.OpenStream"
    case passFile = "dev.handoff1.PassFile"
    case shareMemory = "dev.handoff1.ShareMemory"
    case awaitStream = "dev.handoff1.AwaitStream"
    case keepContent = "dev.handoff1.KeepContent"
    case readContent = "dev.handoff1.ReadContent"
}

/// The errors of `dev.handoff1`. The raw value is the full name.
package enum AppErrorName: String, Sendable, CaseIterable {
    case noSuchSession = "dev.handoff1.NoSuchSession"
    case noSuchActivity = "dev.handoff1.NoSuchActivity"
    case invalidApp = "dev.handoff1.InvalidApp"
    case notThisApp = "dev.handoff1.NotThisApp"
    case noSuchContinuation = "dev.handoff1.NoSuchContinuation"
    case invalidActivity = "dev.handoff1.InvalidActivity"
    case noSuchStream = "dev.handoff1.NoSuchStream"
    case streamFailed = "dev.handoff1.StreamFailed"
    case streamEnded = "dev.handoff1.StreamEnded"
    case invalidDescriptor = "dev.handoff1.InvalidDescriptor"
    case positionPassed = "dev.handoff1.PositionPassed"
    case fileFailed = "dev.handoff1.FileFailed"
    case expectedMore = "dev.handoff1.ExpectedMore"
    case expectedUpgrade = "dev.handoff1.ExpectedUpgrade"
    case limitExceeded = "dev.handoff1.LimitExceeded"
}

/// The methods of `dev.handoff1.Control`. The raw value is the full name.
package enum ControlMethod: String, Sendable, CaseIterable {
    case getStatus = "dev.handoff1.Control.GetStatus"
    case followChanges = "dev.handoff1.Control.FollowChanges"
    case setSwitches = "dev.handoff1.Control.SetSwitches"
    case listNetworks = "dev.handoff1.Control.ListNetworks"
    case trustNetwork = "dev.handoff1.Control.TrustNetwork"
    case forgetNetwork = "dev.handoff1.Control.ForgetNetwork"
    case diagnose = "dev.handoff1.Control.Diagnose"
    case readLog = "dev.handoff1.Control.ReadLog"
    case followLog = "dev.handoff1.Control.FollowLog"
    case createAccount = "dev.handoff1.Control.CreateAccount"
    case getAccount = "dev.handoff1.Control.GetAccount"
    case exportAccount = "dev.handoff1.Control.ExportAccount"
    case importAccount = "dev.handoff1.Control.ImportAccount"
    case revokeExport = "dev.handoff1.Control.RevokeExport"
    case pair = "dev.handoff1.Control.Pair"
    case answerPairing = "dev.handoff1.Control.AnswerPairing"
    case join = "dev.handoff1.Control.Join"
    case removeDevice = "dev.handoff1.Control.RemoveDevice"
    case renameDevice = "dev.handoff1.Control.RenameDevice"
    case setDeviceAccepted = "dev.handoff1.Control.SetDeviceAccepted"
    case leaveAccount = "dev.handoff1.Control.LeaveAccount"
    case rotateKey = "dev.handoff1.Control.RotateKey"
    case listDevices = "dev.handoff1.Control.ListDevices"
    case addPeer = "dev.handoff1.Control.AddPeer"
    case removePeer = "dev.handoff1.Control.RemovePeer"
    case listActivities = "dev.handoff1.Control.ListActivities"
    case listPublished = "dev.handoff1.Control.ListPublished"
    case withdraw = "dev.handoff1.Control.Withdraw"
    case watch = "dev.handoff1.Control.Watch"
    case `continue` = "dev.handoff1.Control.Continue"
    case listApps = "dev.handoff1.Control.ListApps"
    case setAppEnabled = "dev.handoff1.Control.SetAppEnabled"
    case setAppNotified = "dev.handoff1.Control.SetAppNotified"
    case setAppKept = "dev.handoff1.Control.SetAppKept"
}

/// The errors of `dev.handoff1.Control`. The raw value is the full name.
package enum ControlErrorName: String, Sendable, CaseIterable {
    case noAccount = "dev.handoff1.Control.NoAccount"
    case accountExists = "dev.handoff1.Control.AccountExists"
    case invalidAccountFile = "dev.handoff1.Control.InvalidAccountFile"
    case wrongPassphrase = "dev.handoff1.Control.WrongPassphrase"
    case noSuchDevice = "dev.handoff1.Control.NoSuchDevice"
    case noSuchActivity = "dev.handoff1.Control.NoSuchActivity"
    case noSuchApp = "dev.handoff1.Control.NoSuchApp"
    case noSuchTicket = "dev.handoff1.Control.NoSuchTicket"
    case accountRefused = "dev.handoff1.Control.AccountRefused"
    case pairingFailed = "dev.handoff1.Control.PairingFailed"
    case nothingToContinue = "dev.handoff1.Control.NothingToContinue"
    case ambiguousIdentifier = "dev.handoff1.Control.AmbiguousIdentifier"
    case continuationFailed = "dev.handoff1.Control.ContinuationFailed"
    case switchedOff = "dev.handoff1.Control.SwitchedOff"
    case noSuchNetwork = "dev.handoff1.Control.NoSuchNetwork"
    case invalidAddress = "dev.handoff1.Control.InvalidAddress"
    case storageFailed = "dev.handoff1.Control.StorageFailed"
    case expectedMore = "dev.handoff1.Control.ExpectedMore"
    case expectedUpgrade = "dev.handoff1.Control.ExpectedUpgrade"
    case limitExceeded = "dev.handoff1.Control.LimitExceeded"
    case notStarted = "dev.handoff1.Control.NotStarted"
}

/// The methods of `dev.handoff1.Desktop`. The raw value is the full name.
package enum DesktopMethod: String, Sendable, CaseIterable {
    case followApps = "dev.handoff1.Desktop.FollowApps"
    case startApp = "dev.handoff1.Desktop.StartApp"
    case openPage = "dev.handoff1.Desktop.OpenPage"
    case openFile = "dev.handoff1.Desktop.OpenFile"
    case saveItems = "dev.handoff1.Desktop.SaveItems"
    case followSessions = "dev.handoff1.Desktop.FollowSessions"
    case followNotifications = "dev.handoff1.Desktop.FollowNotifications"
    case getNotificationServer = "dev.handoff1.Desktop.GetNotificationServer"
    case showNotification = "dev.handoff1.Desktop.ShowNotification"
    case closeNotification = "dev.handoff1.Desktop.CloseNotification"
    case keepAwake = "dev.handoff1.Desktop.KeepAwake"
    case followSleep = "dev.handoff1.Desktop.FollowSleep"
    case followPower = "dev.handoff1.Desktop.FollowPower"
    case getMachine = "dev.handoff1.Desktop.GetMachine"
    case getNetworkNames = "dev.handoff1.Desktop.GetNetworkNames"
    case followTray = "dev.handoff1.Desktop.FollowTray"
    case showTray = "dev.handoff1.Desktop.ShowTray"
    case findComponent = "dev.handoff1.Desktop.FindComponent"
    case findDocuments = "dev.handoff1.Desktop.FindDocuments"

    /// True if the method returns a stream of replies and therefore needs `more`.
    package var isStream: Bool {
        switch self {
        case .followApps, .followSessions, .followNotifications, .keepAwake, .followSleep, .followPower, .followTray:
            true
        case .startApp, .openPage, .openFile, .saveItems, .getNotificationServer, .showNotification, .closeNotification,
            .getMachine, .getNetworkNames, .showTray, .findComponent, .findDocuments:
            false
        }
    }
}

/// The errors of `dev.handoff1.Desktop`. The raw value is the full name.
package enum DesktopErrorName: String, Sendable, CaseIterable {
    case notStarted = "dev.handoff1.Desktop.NotStarted"
    case notKeptAwake = "dev.handoff1.Desktop.NotKeptAwake"
    case limitExceeded = "dev.handoff1.Desktop.LimitExceeded"
    case expectedMore = "dev.handoff1.Desktop.ExpectedMore"
}

/// The interface definitions embedded in the program.
package enum HandoffInterfaces {
    /// For apps: `dev.handoff1`.
    package static let app = VarlinkInterface(definition: EmbeddedText.`dev.handoff1`)
    /// For the user's own tools: `dev.handoff1.Control`.
    package static let control = VarlinkInterface(definition: EmbeddedText.`dev.handoff1.Control`)
    /// The user's desktop, for the daemon only: `dev.handoff1.Desktop`.
    package static let desktop = VarlinkInterface(definition: EmbeddedText.`dev.handoff1.Desktop`)
    /// Implemented by every service: `org.varlink.service`.
    package static let service = VarlinkInterface(definition: EmbeddedText.`org.varlink.service`)

    /// The interfaces served on the control socket.
    package static var onControlSocket: [VarlinkInterface] {
        [app, control].compactMap(\.self)
    }

    /// The interfaces served on the app socket.
    package static var onAppSocket: [VarlinkInterface] {
        [app].compactMap(\.self)
    }
}
