#!/usr/bin/env node
// Counts the bytes of its input; the count goes on at another device. Handoff with Node.js, without a package.
const net = require('net');
const place = process.env.HANDOFF_SOCKET || process.env.XDG_RUNTIME_DIR + '/handoff-app/app.socket';
let count = 0, session, activity, waiting = [];

function connect(received) {
    let text = '';
    const connection = net.connect(place).setEncoding('utf8');
    connection.on('data', piece => {
        const messages = (text + piece).split('\0');
        text = messages.pop();
        for (const reply of messages.map(message => JSON.parse(message))) {
            if (reply.error) throw new Error(JSON.stringify(reply));
            received(reply.parameters);
        }
    });
    return connection.on('close', () => process.exit(1));
}
const send = (connection, method, message) =>
    connection.write(JSON.stringify({ method: 'dev.handoff1.' + method, ...message }) + '\0');
const calls = connect(reply => waiting.shift()(reply));        // replies come in the order of the calls
const call = (method, parameters) => new Promise(resolve => {
    waiting.push(resolve);
    send(calls, method, { parameters: { session, ...parameters } });
});
// JSON.stringify(1.0) is 1, an integer: the tag says that it is a real.
const state = () => ({ title: `Counting: ${count}`, userInfo: { count, step: { $double: 1.0 } } });

const changed = () => call('Update', { activity, change: { needsSave: true } });     // asked for when it is needed
async function began() {
    activity = (await call('Publish', { activity: { type: 'com.example.counting', ...state() } })).activity;
    await call('BecomeCurrent', { activity });
    process.stdin.on('end', () => process.exit(0)).on('data', async bytes => {
        count += bytes.length;
        await changed();
        console.log('count', count);
    });
}
const events = connect(event => {
    if (event.event === 'attached') session = event.session, began();
    else if (event.event === 'save') call('AnswerSave', { activity, change: state() });
    else if (event.event === 'continue') {
        count = event.content.userInfo.count;
        call('AnswerContinue', { continuation: event.continuation, handled: true });
        changed();
    }
    console.log(event.event, count);
});
send(events, 'Attach', { parameters: { app: 'counter-js', types: ['com.example.counting'] }, more: true });
