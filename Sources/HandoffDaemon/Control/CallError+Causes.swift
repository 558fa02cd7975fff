import HandoffAccount
import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffState

extension CallError {
    /// The error of the app interface for a refusal of the activity store.
    init(_ refusal: ActivityStore.Refusal) {
        switch refusal {
        case .unknown(let id): self = .noSuchActivity(id.hex)
        case .tooManyOfApp:
            self = .limit(
                "activities", "an app can have at most \(ActivityStore.maxPerApp) activities; end unused ones")
        case .tooManyOfAll:
            self = .limit(
                "activities",
                "all apps together can have at most \(ActivityStore.maximum) activities; close an app that has many")
        case .tooMuchOfApp:
            self = .limit(
                "bytes",
                "the activities of an app can have at most \(ActivityStore.maxBytesPerApp) bytes; "
                    + "end unused ones, and send large data over a stream")
        case .tooMuchOfAll:
            self = .limit(
                "bytes",
                "all activities together can have at most \(ActivityStore.maxBytes) bytes; close an app that has many")
        }
    }
}

extension CallError {
    /// The error reply for an error of any part of the daemon.
    init(_ error: any Error) {
        switch error {
        case let error as CallError: self = error
        case let refusal as ActivityStore.Refusal: self.init(refusal)
        case let error as ActivityError: self = .invalidActivity(error)
        case let failure as HandoffFailure: self = .continuationFailed(failure)
        case let refusal as AccountStore.Refusal: self.init(refusal)
        case FileError.passphraseMissing, FileError.passphraseWrong, FileError.invalidPassphraseLength:
            self = .control(.wrongPassphrase, "the account file \(error)")
        case let error as FileError: self = .control(.invalidAccountFile, "the account file \(error)")
        case AccountError.noSuchDevice(let device):
            self = .noSuchDevice(device.hex, "\(AccountError.noSuchDevice(device))")
        case let error as AccountError: self = .control(.accountRefused, "\(error)")
        default: self = .control(.storageFailed, "\(error)")
        }
    }

    /// The error of the control interface for a refusal of the account store.
    private init(_ refusal: AccountStore.Refusal) {
        let message = "\(refusal)"
        switch refusal {
        case .noAccount: self = .control(.noAccount, message)
        case .exists(let account):
            self = CallError(
                name: ControlErrorName.accountExists.rawValue,
                parameters: ["account": .string(account.hex), "message": .string(message)])
        case .removed: self = .control(.accountRefused, message)
        }
    }
}
