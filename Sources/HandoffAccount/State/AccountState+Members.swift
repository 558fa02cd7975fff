package import HandoffCrypto
package import HandoffModel

extension AccountState {
    /// Admits the device of `key` under a name. No new epoch is needed: the caller sends the
    /// current key.
    ///
    /// - Throws: ``AccountError/removedPermanently(_:)`` for a key that was removed,
    ///   ``AccountError/full(reason:)``.
    package func admitting(_ key: PublicKey, name: String, by signer: SigningKey) throws -> AccountState {
        try requireLive(signer)
        let device = DeviceID(key)
        guard !view.isRemoved(device) else { throw AccountError.removedPermanently(device) }
        var next = self
        if !view.isLive(device) {
            next = try adding([Statement.sign(.add(key), accountID: accountID, with: signer)])
            guard next.view.isLive(device) else { throw AccountError.full(reason: "the admission has no effect") }
        }
        return try next.naming(device, name, by: signer)
    }

    /// Admits a device by pairing. It is unfinished until it confirms that it has stored the
    /// account.
    ///
    /// - Throws: as ``admitting(_:name:by:)``.
    package func pairing(_ key: PublicKey, name: String, by signer: SigningKey) throws -> AccountState {
        var next = try admitting(key, name: name, by: signer)
        next.unfinished.insert(DeviceID(key))
        return next
    }

    /// Records that a device admitted by pairing has stored the account.
    package func finishing(_ device: DeviceID) -> AccountState {
        var next = self
        next.unfinished.remove(device)
        return next
    }

    /// Permanently removes a device and creates a new epoch in the same write, so that the device
    /// can read no new data.
    ///
    /// - Parameter keeping: the devices to keep of those that it admitted
    ///   (``RosterView/admitted(by:)``). Its admissions that this device does not know of are void,
    ///   and those devices must be paired again.
    package func removing(
        _ device: DeviceID, keeping: Set<DeviceID>, by signer: SigningKey, now: UInt64
    ) throws -> AccountState {
        try requireLive(signer)
        guard view.isLive(device) else { throw AccountError.noSuchDevice(device) }
        guard device != DeviceID(signer.publicKey) else { return try leaving(by: signer) }
        let keeps = view.keeps(removing: device, keeping: keeping)
        let content = StatementContent.remove(subject: Fingerprint(device), keeps: keeps)
        return try adding([Statement.sign(content, accountID: accountID, with: signer)])
            .makingEpoch(by: signer, now: now)
    }

    /// Removes this device itself and keeps all devices that it admitted. The others create the new
    /// epoch.
    ///
    /// The caller sends the statements while connections are still open, and then deletes the
    /// account.
    package func leaving(by signer: SigningKey) throws -> AccountState {
        try requireLive(signer)
        let device = DeviceID(signer.publicKey)
        let keeps = view.keeps(removing: device, keeping: view.admitted(by: device))
        let content = StatementContent.remove(subject: Fingerprint(device), keeps: keeps)
        return try adding([Statement.sign(content, accountID: accountID, with: signer)])
    }

    /// Returns whether `device`, which is this device, has left the account by its own statement
    /// and only has to delete it.
    package func hasLeft(_ device: DeviceID) -> Bool {
        isRemoved(device, by: device)
    }

    /// Returns whether one device has removed another.
    package func isRemoved(_ device: DeviceID, by remover: DeviceID) -> Bool {
        roster.isRemoved(Fingerprint(device), by: Fingerprint(remover))
    }

    /// Names this device as configured, if the configured name has changed. A name that the user
    /// gave since then remains until the configuration changes.
    ///
    /// - Parameter name: nil if none is configured. A name configured later then counts as a
    ///   change.
    package func configured(name: String?, by signer: SigningKey) throws -> AccountState {
        guard name != configuredName else { return self }
        var next = self
        if let name { next = try naming(DeviceID(signer.publicKey), name, by: signer) }
        next.configuredName = name
        return next
    }

    /// Gives a member a name that replaces all others. Repeating the name changes nothing.
    package func naming(_ device: DeviceID, _ text: String, by signer: SigningKey) throws -> AccountState {
        try requireLive(signer)
        guard view.isLive(device) else { throw AccountError.noSuchDevice(device) }
        let isSeen = text.unicodeScalars.contains { !$0.properties.isWhitespace && !VisibleText.isHidden($0) }
        guard (1...Statement.maxName).contains(text.utf8.count), isSeen else { throw AccountError.badName }
        if let old = view.names[device], old.utf8.elementsEqual(text.utf8) { return self }
        let (counter, hasOverflowed) = (view.nameCounters[device] ?? 0).addingReportingOverflow(1)
        guard !hasOverflowed else { throw AccountError.namesExhausted }
        let content = StatementContent.name(subject: device, counter: counter, text: text)
        return try adding([Statement.sign(content, accountID: accountID, with: signer)])
    }
}
