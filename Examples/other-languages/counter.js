#!/usr/bin/env node
// Counts the bytes of its input, and continues the count and the bytes on another device. Uses only Node.js.
const net = require('net');
const TYPE = 'com.example.counting';
const place = process.env.HANDOFF_SOCKET || process.env.XDG_RUNTIME_DIR + '/handoff-app/app.socket';
let count = 0, text = Buffer.alloc(0), changed = async () => {};

// Opens a connection that passes replies to `received` until that returns true, and then the bytes of a stream to `bytes`.
function connect(received, { bytes = () => {}, ended = () => {} } = {}) {
    let rest = Buffer.alloc(0), isStream = false;
    const connection = net.connect({ path: place, allowHalfOpen: false });
    connection.on('data', piece => {
        rest = Buffer.concat([rest, piece]);
        for (let end; !isStream && (end = rest.indexOf(0)) >= 0;) {
            const reply = JSON.parse(rest.subarray(0, end));
            rest = rest.subarray(end + 1);
            isStream = received(reply.error ? Object.assign(new Error(JSON.stringify(reply)), { isRefusal: true }) : null,
                reply.parameters);
        }
        if (isStream) rest = bytes(rest) || Buffer.alloc(0);
    });
    return connection.on('error', error => console.error('away:', error.message)).on('close', ended);
}
const send = (connection, method, message) =>
    connection.write(JSON.stringify({ method: 'dev.handoff1.' + method, ...message }) + '\0');
const failed = error => console.error('failed:', error.message);    // affects only this event

// Opens a stream on a separate connection, and returns the data from the other app up to the end.
const openStream = (parameters, data) => new Promise((resolve, reject) => {
    const pieces = [];
    const stream = connect(error => {
        if (error) return reject(error), stream.destroy();
        stream.end(data);
        return true;
    }, { bytes: piece => { pieces.push(piece); }, ended: () => resolve(Buffer.concat(pieces)) });
    stream.setTimeout(30000, () => stream.destroy(new Error('the other app does not respond')));
    send(stream, 'OpenStream', { parameters, upgrade: true });
});
// JSON.stringify(1.0) is 1, an integer: the tag marks it as a real.
const state = () => ({ title: `Counting: ${count}`, userInfo: { count, step: { $double: 1.0 } } });

function run() {
    let session, activity, waiting = [], isOver = false;
    const lost = () => {                                       // the offered activity no longer exists: retry in a second
        if (isOver) return;
        isOver = true;
        changed = async () => {};
        events.destroy(), calls.destroy();
        setTimeout(run, 1000);
    };
    const calls = connect((error, reply) => {                  // replies arrive in the order of the calls
        const { resolve, reject } = waiting.shift();
        error ? reject(error) : resolve(reply);
    }, { ended: lost });
    const call = (method, parameters) => new Promise((resolve, reject) => {
        waiting.push({ resolve, reject });
        send(calls, method, { parameters: { session, ...parameters } });
    });
    async function handle(event) {
        if (event.event === 'attached') {
            session = event.session;
            const description = { type: TYPE, supportsContinuationStreams: true, ...state() };
            activity = (await call('Publish', { activity: description })).activity;
            await call('BecomeCurrent', { activity });
            changed = () => call('Update', { activity, change: { needsSave: true } });   // saved when it is needed
        } else if (event.event === 'save') await call('AnswerSave', { activity, change: state() });
        else if (event.event === 'stream') await openStream({ stream: event.stream }, text);
        else if (event.event === 'continue') {
            count = event.content.userInfo.count;
            await call('AnswerContinue', { continuation: event.continuation, handled: true });
            await changed();
            text = await openStream({ continuation: event.continuation });
            console.log('text', text.toString());
        }
    }
    const events = connect((error, event) => {
        if (error) return console.error('refused:', error.message), process.exit(1);
        handle(event).catch(failed).then(() => console.log(event.event, count));
    }, { ended: lost });
    send(events, 'Attach', { parameters: { app: 'counter-js', types: [TYPE] }, more: true });
}
process.stdin.on('end', () => process.exit(0)).on('data', async bytes => {
    count += bytes.length;
    text = Buffer.concat([text, bytes]);
    await changed().catch(failed);
    console.log('count', count);
});
run();
