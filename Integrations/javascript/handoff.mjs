// Handoff for Node.js: calls of the control socket, and apps that publish and continue activities. No dependencies.
// docs/other-languages.md describes it, docs/control-protocol.md has the methods, events and fields.
import { execFile, spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import net from 'node:net';
import { promisify } from 'node:util';

const TIMEOUT = 30000;                                 // Milliseconds until the first reply.
const MIN_DELAY = 250, MAX_DELAY = 60000;              // Milliseconds between two attempts of an app to connect.

/** Returns text from another device, cut at `limit`, with `\u{…}` for characters that move or hide others. */
export const visible = (text, limit = 200) => text.slice(0, limit).replace(
    /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0]/gu,
    each => `\\u{${each.codePointAt(0).toString(16).toUpperCase()}}`) + (text.length > limit ? '…' : '');

/** An error reply. `name` is the error's name without its interface. The message is for display. */
export class Refused extends Error {
    constructor(error, parameters) {
        const name = error.slice(error.lastIndexOf('.') + 1);
        super(visible(String(parameters.message || `handoffd refused the request: ${name}`), 4096));
        Object.assign(this, { name, parameters });
    }
}

/** The daemon is not running, does not reply, belongs to another user, or sent invalid data. */
export class Unreachable extends Error {}

/** Returns `$HANDOFF_SOCKET`, or the path of a socket in the user's runtime folder. */
export const socketPath = (name = 'handoff/control.socket') => process.env.HANDOFF_SOCKET
    || `${process.env.XDG_RUNTIME_DIR || `/run/user/${process.getuid()}`}/${name}`;

/** A call on its own connection, and the iterator of its replies: `for await (const reply of follow(…))`. */
export class Follow {
    #bytes = Buffer.alloc(0); #pieces;
    constructor(method, parameters, place = socketPath(), flags = {}) {
        const message = { method, parameters, ...flags };
        // Half a character would be refused: toWellFormed replaces it where it exists.
        const text = JSON.stringify(message, (_, value) => value?.toWellFormed?.() ?? value) + '\0';
        if (Buffer.byteLength(text) > 1 << 20)
            throw new Refused('LimitExceeded', { message: 'the request is longer than 1 MiB' });
        // Node.js cannot identify the process at the other end, only the owner of the socket.
        if (![process.getuid(), 0].includes(statSync(place, { throwIfNoEntry: false })?.uid ?? 0))
            throw new Unreachable(`cannot reach handoffd at ${place}: the socket belongs to another user`);
        this.socket = net.connect({ path: place, allowHalfOpen: !!flags.upgrade }).setTimeout(TIMEOUT)
            .on('timeout', () => this.socket.destroy(new Error('it did not reply in time'))).on('error', () => {});
        this.#pieces = this.socket.iterator({ destroyOnReturn: false });
        this.socket.write(text);
    }
    close() { this.socket.destroy(); }
    /** Returns the next reply, or undefined after the last. */
    async next() {
        if (this.done) return undefined;
        let end;
        while ((end = this.#bytes.indexOf(0)) < 0) {
            const { value } = await this.#pieces.next().catch(error => {
                throw new Unreachable(`cannot reach handoffd: ${error.message}`);
            });
            if (!value) throw new Unreachable('handoffd closed the connection');
            this.#bytes = Buffer.concat([this.#bytes, value]);
        }
        let reply;
        try { reply = JSON.parse(this.#bytes.subarray(0, end)); } catch {}
        const parameters = reply?.parameters ?? {};
        if (reply?.constructor !== Object || parameters.constructor !== Object)
            throw new Unreachable('handoffd sent an invalid reply');
        this.#bytes = this.#bytes.subarray(end + 1);
        this.done = !reply.continues;
        this.socket.setTimeout(0);                     // Later replies may take any time.
        if (reply.error) throw new Refused(String(reply.error), parameters);
        return parameters;
    }
    /** Returns the first reply, and ends the call. */
    async only() {
        try { return await this.next(); } finally { this.close(); }
    }
    /** Returns the socket of a call with `upgrade`, which is a stream after the reply. */
    async upgraded() {
        await this.next();
        await this.#pieces.return();
        if (this.#bytes.length) this.socket.unshift(this.#bytes);
        return this.socket;
    }
    async *[Symbol.asyncIterator]() {
        try { for (let reply; (reply = await this.next());) yield reply; } finally { this.close(); }
    }
}

/** Calls a method of `dev.handoff1.Control`. Returns its reply. */
export const call = async (method, parameters = {}) => new Follow('dev.handoff1.Control.' + method, parameters).only();

/** Calls a method of `dev.handoff1.Control` that has several replies. Returns their iterator. */
export const follow = (method, parameters = {}) =>
    new Follow('dev.handoff1.Control.' + method, parameters, socketPath(), { more: true });

const document = (...words) => promisify(execFile)('handoffctl', ['document', ...words]).then(
    result => result.stdout.slice(0, -1),
    error => { throw new Refused('Failed', { message: error.stderr?.trim() || error.message }); });

/** Returns the path of a document of an activity that was continued here, when it has been fetched. */
export const localPath = async (url, continuation) => {
    if (!url.startsWith('handoff-document:')) throw new TypeError('not the URL of a document');
    return document(url, '--continuation', continuation);
};

/** An activity of an app. It is published again, with a new `id`, when the daemon has restarted. */
export class Activity {
    id = null; isCurrent = false; files = new Map();
    constructor(app, { save, stream }) { Object.assign(this, { app, save, stream }); }
    /** Sends changed fields. `needsSave: true` is enough if `save` returns them. */
    async update(change, method = 'Update') {
        change = await this.outgoing(change);
        await this.ask(method, { change });            // If it is refused, nothing has changed.
        Object.assign(this.fields, change.expires === false ? { expirationDate: null } : {}, change);
    }
    /** Offers the activity on the other devices, also if the daemon had withdrawn it, as after a day without use. */
    async becomeCurrent() {
        this.app.activities = [...this.app.activities.filter(each => each !== this), this];
        this.isCurrent = true;
        await (this.id ? this.ask('BecomeCurrent') : this.publish());
    }
    /** Ends the activity and its streams. */
    async invalidate() {
        await this.ask('Invalidate');
        this.forget();
    }
    /** Calls a method about this activity, such as `ResignCurrent`. */
    ask = async (method, parameters) => {
        if (method === 'ResignCurrent') this.isCurrent = false;
        return this.id ? this.app.ask(method, { activity: this.id, ...parameters }) : {};
    };
    forget() {
        this.app.activities = this.app.activities.filter(each => each !== this);
        this.id = null;
    }
    async publish() {
        const activity = { needsSave: !!this.save, ...this.fields };
        this.id = (await this.app.ask('Publish', { activity })).activity;
        if (this.isCurrent) await this.ask('BecomeCurrent');
    }
    /** Replaces the URLs of files, as HandoffKit does. Other devices can fetch them while the activity exists. */
    async outgoing(fields) {
        const text = JSON.stringify(fields);
        for (const [file] of text.matchAll(/(?<="\$url":")file:[^"#]*/g)) if (!this.files.has(file)) {
            const url = await document(file).catch(() => null);        // The daemon sends only the name of such a file.
            if (url && !this.files.has(file)) this.files.set(file, `${url}?fetch=${this.files.size}`);
        }
        fields = JSON.parse(text, (key, value) => {
            const [file, ...fragment] = String(value).split('#');
            return key === '$url' && this.files.has(file) ? [this.files.get(file), ...fragment].join('#') : value;
        });
        return this.files.size ? { ...fields, supportsContinuationStreams: true } : fields;
    }
}

/** A connection to the daemon that is made again after it was lost. `onContinue` gets an activity and the id of its
 * continuation, and returns false to refuse it. `onEvent` gets each event after it was handled. */
export class App {
    activities = []; #events = null; #session = null; #delay = MIN_DELAY; #timer;
    constructor(name, types = [], { onContinue = () => false, onEvent = () => {}, onError, place, ...attach } = {}) {
        onError ??= error => { if (!(error instanceof Unreachable)) console.error(error); };
        place ??= socketPath('handoff-app/app.socket');
        Object.assign(this, { attach: { app: name, types, ...attach }, onContinue, onEvent, onError, place });
    }
    /** Connects, and publishes. Fails if the app or an activity is refused. From now on, events arrive. */
    start = () => this.#connect(error => { throw error; }).catch(error => {
        if (error instanceof Refused) throw error;
        this.#lost(error);
    });
    /** Publishes an activity. `save` returns its current state: it is called now, and before the state is sent.
     * `stream` gets a socket and the event if another device opens a stream. */
    async publish(fields, { save, stream } = {}) {
        const activity = new Activity(this, { save, stream });
        activity.fields = await activity.outgoing({ ...fields, ...await save?.() });
        await activity.publish();
        this.activities.push(activity);
        return activity;
    }
    /** Returns a socket that is connected to the app that a `continuation` is from, for a `resource` if given. */
    openStream = async name => new Follow('dev.handoff1.OpenStream', name, this.place, { upgrade: true }).upgraded();
    /** Calls a method of the session. Does nothing while there is none: the next one publishes everything again. */
    async ask(method, parameters = {}) {
        const session = this.#session;
        if (!session) return {};
        parameters = { session, ...parameters };
        try { return await new Follow('dev.handoff1.' + method, parameters, this.place).only(); } catch (error) {
            if (error instanceof Refused && error.name !== 'NoSuchSession') throw error;
            if (session === this.#session) this.#lost(error);
            return {};
        }
    }
    close() {
        clearTimeout(this.#timer);
        this.#events?.close();
        this.#events = this.#session = null;
    }
    async #connect(refused = this.onError) {
        const events = this.#events = new Follow('dev.handoff1.Attach', this.attach, this.place, { more: true });
        this.#session = (await events.next()).session;
        this.#delay = MIN_DELAY;
        const receive = async () => {
            for await (const event of events) if (events === this.#events) this.#handle(event).catch(this.onError);
        };
        receive().catch(error => events === this.#events && this.#lost(error));
        for (const activity of [...this.activities]) await activity.publish().catch(refused);
    }
    async #handle(event) {
        const { event: name, continuation, stream, resource } = event;
        const activity = this.activities.find(each => each.id && each.id === event.activity);
        const file = [...activity?.files.keys() ?? []].find((_, number) => resource === `document/${number}`);
        if (name === 'continue') {
            const answer = { continuation, handled: false };
            try { answer.handled = await this.onContinue(event.content, continuation) !== false; } catch (error) {
                answer.failure = String(error?.message ?? error).slice(0, 500);
                throw error;
            } finally { await this.ask('AnswerContinue', answer); }
        } else if (name === 'save' && activity?.save) await activity.update(await activity.save(), 'AnswerSave');
        else if (name === 'stream' && file) {
            const options = { stdio: 'ignore', env: { ...process.env, HANDOFF_SOCKET: this.place } };
            spawn('handoffctl', ['document', '--send', stream, file], options).on('error', this.onError);
        } else if (name === 'stream' && activity?.stream && resource == null)
            await activity.stream(await this.openStream({ stream }), event);
        else if (name === 'withdrawn') activity?.forget();
        await this.onEvent(event);
    }
    #lost(error) {
        this.#events?.close();
        this.#events = this.#session = null;
        for (const each of this.activities) each.id = null;
        this.#timer = setTimeout(() => this.#connect().catch(error => this.#lost(error)), this.#delay);
        this.#delay = Math.min(2 * this.#delay, MAX_DELAY);
        this.onError(error);
    }
}
