// Handoff for Node.js: calls of the control socket, and apps that publish and continue activities. No dependencies.
// docs/other-languages.md describes it, docs/control-protocol.md has the methods, events and fields.
import { execFile, spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const MAX_MESSAGE = 1 << 20, TIMEOUT = 30000;          // Bytes, and milliseconds until the first reply.
const MIN_DELAY = 250, MAX_DELAY = 60000;              // Milliseconds between two attempts of an app to connect.

/** Returns text from another device with escapes in place of control and bidirectional characters. */
export const visible = text =>
    text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, each => `\\u{${each.codePointAt(0).toString(16)}}`);

/** An error reply. `name` is the error's name without its interface. The message is for display. */
export class Refused extends Error {
    constructor(error, parameters) {
        const name = error.slice(error.lastIndexOf('.') + 1), text = parameters.message;
        super(visible(typeof text === 'string' && text ? text : `handoffd refused the request: ${name}`));
        Object.assign(this, { name, parameters });
    }
}
/** The daemon is not running, does not reply, belongs to another user, or sent invalid data. */
export class Unreachable extends Error {}

/** Returns `$HANDOFF_SOCKET`, or the path of a socket in the user's runtime folder. */
export const socketPath = (folder = 'handoff', name = 'control.socket') => process.env.HANDOFF_SOCKET
    || path.join(process.env.XDG_RUNTIME_DIR || `/run/user/${process.getuid()}`, folder, name);

/** A call on its own connection, and the iterator of its replies: `for await (const reply of follow(…))`. */
export class Follow {
    #bytes = Buffer.alloc(0); #replies = []; #waiting = []; #error = null; #timer; #upgrades;
    done = false;
    constructor(method, parameters, place = socketPath(), flags = {}) {
        this.#upgrades = !!flags.upgrade;
        // Half a character would be refused: toWellFormed replaces it where it exists.
        const text = JSON.stringify({ method, parameters, ...flags }, (_, value) => value?.toWellFormed?.() ?? value);
        if (Buffer.byteLength(text) >= MAX_MESSAGE)
            throw new Refused('LimitExceeded', { limit: 'message', message: 'the request is longer than 1 MiB' });
        // Node.js cannot identify the process at the other end, only the owner of the socket.
        const owner = statSync(place, { throwIfNoEntry: false })?.uid ?? 0;
        if (![process.getuid(), 0].includes(owner))
            throw new Unreachable(`the socket ${place} belongs to another user`);
        this.#timer = setTimeout(() => this.#fail(new Unreachable('handoffd did not reply in time')), TIMEOUT);
        const failed = text => this.#fail(new Unreachable(text));
        this.socket = net.connect({ path: place, allowHalfOpen: this.#upgrades })
            .on('error', error => failed(`cannot reach handoffd at ${place}: ${error.message}`))
            .on('close', () => failed('handoffd closed the connection'))
            .on('end', () => failed('handoffd closed the connection')).on('readable', this.#read);
        this.socket.write(text + '\0');
    }
    close() {
        clearTimeout(this.#timer);
        this.socket.destroy();
    }
    /** Returns the next reply, or undefined after the last. */
    next() {
        if (this.#replies.length || this.done) return Promise.resolve(this.#replies.shift());
        if (this.#error) return Promise.reject(this.#error);
        return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
    }
    /** Returns the first reply, and ends the call. */
    async only() {
        try { return await this.next() ?? {}; } finally { this.close(); }
    }
    async *[Symbol.asyncIterator]() {
        try { for (let reply; (reply = await this.next()) !== undefined;) yield reply; } finally { this.close(); }
    }
    #read = () => {
        for (let piece; !this.done && (piece = this.socket.read()) !== null;) {
            this.#bytes = Buffer.concat([this.#bytes, piece]);
            for (let end; !this.done && !this.#error && (end = this.#bytes.indexOf(0)) >= 0;) {
                const message = this.#bytes.subarray(0, end);
                this.#bytes = this.#bytes.subarray(end + 1);
                this.#take(message);
            }
            if (this.#bytes.length > 2 * MAX_MESSAGE && !this.done)
                this.#fail(new Unreachable('handoffd sent a message that is too long'));
        }
    };
    #take(message) {
        let reply;
        try { reply = JSON.parse(message); } catch { reply = null; }
        const parameters = reply?.parameters ?? {};
        if (!reply || typeof reply !== 'object' || Array.isArray(reply) || typeof parameters !== 'object')
            return this.#fail(new Unreachable('handoffd sent an invalid reply'));
        clearTimeout(this.#timer);
        if (reply.error) return this.#fail(new Refused(String(reply.error), parameters));
        this.done = !reply.continues;
        if (this.done && this.#upgrades) {             // The connection is a stream now, with the bytes that followed.
            this.socket.off('readable', this.#read);
            if (this.#bytes.length) this.socket.unshift(this.#bytes);
        }
        const first = this.#waiting.shift();
        first ? first.resolve(parameters) : this.#replies.push(parameters);
        if (this.done) for (const each of this.#waiting.splice(0)) each.resolve(undefined);
    }
    #fail(error) {
        if (this.done || this.#error) return;
        this.#error = error;
        this.close();
        for (const each of this.#waiting.splice(0)) each.reject(error);
    }
}

/** Calls a method of `dev.handoff1.Control`. Returns its reply. */
export const call = async (method, parameters = {}) => new Follow('dev.handoff1.Control.' + method, parameters).only();
/** Calls a method of `dev.handoff1.Control` that has several replies. Returns their iterator. */
export const follow = (method, parameters = {}) =>
    new Follow('dev.handoff1.Control.' + method, parameters, socketPath(), { more: true });

const document = async (...words) => {
    const result = await promisify(execFile)('handoffctl', ['--json', 'document', ...words]).catch(error => error);
    let value;
    const output = (result instanceof Error ? result.stderr : result.stdout) ?? '';
    try { value = JSON.parse(output.trim().split('\n').pop()); } catch {}
    if (!value || value.error) throw new Refused(value?.error ?? 'Failed', value ?? { message: result.message });
    return value;
};
/** Returns the URL by which other devices find a file. */
export const documentURL = async file => (await document(path.resolve(file))).url;
/** Returns the path of a document of an activity that was continued here, when it has been fetched. */
export const localPath = async (url, continuation) => {
    if (!url.startsWith('handoff-document:')) throw new TypeError('not the URL of a document');
    return (await document(url, '--continuation', continuation)).path;
};

/** An activity of an app. It is published again, with a new `id`, when the daemon has restarted. */
export class Activity {
    id = null; isCurrent = false; files = {}; #known = {};
    constructor(app, { save, stream }, fields) { Object.assign(this, { app, save, stream, fields }); }
    /** Sends changed fields. `needsSave: true` is enough if `save` returns them. */
    async update(change, method = 'Update') {
        change = await this.outgoing(change);
        await this.ask(method, { change });            // If it is refused, nothing has changed.
        const fields = { ...this.fields, ...change };
        if (change.expires === false) delete fields.expirationDate;
        const kept = ([key, value]) => value !== '' && value !== null && key !== 'needsSave' && key !== 'expires';
        this.fields = Object.fromEntries(Object.entries(fields).filter(kept));
    }
    /** Offers the activity on the other devices, also if the daemon had withdrawn it, as after a day without use. */
    async becomeCurrent() {
        if (!this.app.activities.includes(this)) {
            this.app.activities.push(this);
            await this.publish();
        }
        if (!this.fields.to) for (const each of this.app.activities) each.isCurrent &&= 'to' in each.fields;
        this.isCurrent = true;
        await this.ask('BecomeCurrent');
    }
    /** Ends the activity and its streams. */
    async invalidate() {
        await this.ask('Invalidate');
        this.forget();
    }
    forget() {
        this.app.activities = this.app.activities.filter(each => each !== this);
        Object.assign(this, { id: null, isCurrent: false });
    }
    /** Calls a method about this activity, such as `ResignCurrent`. */
    async ask(method, parameters = {}) {
        return this.id ? this.app.ask(method, { activity: this.id, ...parameters }) : {};
    }
    async publish() {
        const activity = { needsSave: !!this.save, ...this.fields };
        this.id = (await this.app.ask('Publish', { activity })).activity ?? null;
        if (this.isCurrent) await this.ask('BecomeCurrent');
    }
    /** Replaces the URLs of files, as HandoffKit does. Only files that the latest state names can be fetched. */
    async outgoing(change) {
        if (!change.userInfo) return change;
        const files = {}, mapped = async value => {
            if (Array.isArray(value)) return Promise.all(value.map(mapped));
            if (!value || typeof value !== 'object') return value;
            if (!String(value.$url).startsWith('file:')) return Object.fromEntries(
                await Promise.all(Object.entries(value).map(async ([key, each]) => [key, await mapped(each)])));
            try {
                const url = new URL(value.$url), file = fileURLToPath(url);
                const known = this.#known[file] ??= { number: Object.keys(this.#known).length, url: documentURL(file) };
                let sent = await known.url;
                try {
                    accessSync(file, constants.R_OK);
                    if (known.number < 1024) files[`document/${known.number}`] = file, sent += `?fetch=${known.number}`;
                } catch {}
                return { $url: sent + url.hash };
            } catch { return value; }                  // The daemon sends only its name.
        };
        change = { ...change, userInfo: await mapped(change.userInfo) };
        this.files = files;
        return Object.keys(files).length ? { ...change, supportsContinuationStreams: true } : change;
    }
}

/** A connection to the daemon that is made again after it was lost. `onContinue` gets the activity and the id of its
 * continuation, and returns false to refuse it. `onEvent` gets each event when it has been handled, `onError` the
 * exceptions of handlers and failures of the connection. */
export class App {
    activities = []; #events = null; #session = null; #since = 0; #delay = MIN_DELAY / 2; #timer; #isClosed = false;
    constructor(name, types = [], { onContinue = () => false, onEvent = () => {}, onError, place, ...attach } = {}) {
        onError ??= error => { if (!(error instanceof Unreachable)) console.error(error); };
        Object.assign(this, { attach: { app: name, types, ...attach }, onContinue, onEvent, onError, place });
    }
    /** Connects. Fails if the app is refused. */
    start = () => this.#connect().catch(error => {
        if (error instanceof Refused && !this.#since) throw error;
        this.#lost(error);
    });
    /** Publishes an activity. `save` returns its current state when it is needed, and now. `stream` gets a socket and
     * the event if another device opens a stream. */
    async publish(fields, { save, stream } = {}) {
        const activity = new Activity(this, { save, stream }, {});
        activity.fields = await activity.outgoing({ ...fields, ...await save?.() });
        await activity.publish();
        this.activities.push(activity);
        return activity;
    }
    /** Returns a socket that is connected to the app that a `continuation` is from, for a `resource` if given. */
    async openStream(name) {
        const stream = this.#follow('OpenStream', name, { upgrade: true });
        await stream.next();
        return stream.socket;
    }
    /** Calls a method of the session. Does nothing while there is none: the next one publishes everything again. */
    async ask(method, parameters = {}) {
        if (!this.#session) return {};
        const session = this.#session;
        try { return await this.#follow(method, { session, ...parameters }).only(); } catch (error) {
            if (error instanceof Refused && error.name !== 'NoSuchSession') throw error;
            if (session === this.#session) this.#lost(error);
            return {};
        }
    }
    close() {
        this.#isClosed = true;
        clearTimeout(this.#timer);
        this.#events?.close();
    }
    #follow(method, parameters, flags) {
        const place = this.place ?? socketPath('handoff-app', 'app.socket');
        return new Follow('dev.handoff1.' + method, parameters, place, flags);
    }
    async #connect() {
        const events = this.#events = this.#follow('Attach', this.attach, { more: true });
        this.#session = (await events.next()).session;
        this.#since = Date.now();
        this.#receive(events);
        for (const activity of [...this.activities]) await activity.publish().catch(error => {
            activity.forget();
            this.onError(error);
        });
    }
    async #receive(events) {
        try {
            for (let event; (event = await events.next()) !== undefined;) this.#handle(event).catch(this.onError);
        } catch (error) { if (events === this.#events && !this.#isClosed) this.#lost(error); }
    }
    async #handle(event) {
        const activity = this.activities.find(each => each.id && each.id === event.activity);
        const { continuation, stream } = event;
        if (event.event === 'continue') {
            let handled = false;
            try { handled = await this.onContinue(event.content, continuation) !== false; } finally {
                await this.ask('AnswerContinue', { continuation, handled });
            }
        } else if (event.event === 'save' && activity?.save) await activity.update(await activity.save(), 'AnswerSave');
        else if (event.event === 'stream' && activity && Object.hasOwn(activity.files, event.resource ?? ''))
            spawn('handoffctl', ['document', '--send', stream, activity.files[event.resource]], { stdio: 'ignore' })
                .on('error', this.onError);
        else if (event.event === 'stream' && activity?.stream && event.resource == null)
            await activity.stream(await this.openStream({ stream }), event);
        else if (event.event === 'withdrawn') activity?.forget();
        await this.onEvent(event);
    }
    #lost(error) {
        const isSettled = this.#session && Date.now() - this.#since > 10000;
        this.#events?.close();
        this.#events = this.#session = null;
        for (const each of this.activities) each.id = null;
        this.#delay = isSettled ? MIN_DELAY : Math.min(2 * this.#delay, MAX_DELAY);
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.#connect().catch(error => this.#lost(error)), this.#delay);
        this.onError(error);
    }
}
