#!/usr/bin/env node
// Counts the bytes of its input, and continues the count and the bytes on another device. Uses the module handoff.mjs.
const path = require('path');
const place = process.env.HANDOFF_MODULE || path.join(__dirname, '../../Integrations/javascript/handoff.mjs');
const TYPE = 'com.example.counting';
let count = 0, text = Buffer.alloc(0);

// JSON.stringify(1.0) is 1, an integer: the tag marks it as a real.
const state = () => ({ title: `Counting: ${count}`, userInfo: { count, step: { $double: 1.0 } } });

async function main() {
    const { App, Unreachable } = await import(place);
    const onError = error =>                                   // affects only this event, such as a refused stream
        console.error(error instanceof Unreachable ? 'away:' : `failed: ${error.name}`, error.message);
    const onEvent = event => console.log(event.event, count);
    async function onContinue(content, continuation) {         // the user continues the count of another device here
        count = content.userInfo.count;
        await activity.update({ needsSave: true });
        try {
            const stream = await app.openStream({ continuation }), pieces = [];
            stream.end();
            for await (const piece of stream) pieces.push(piece);
            text = Buffer.concat(pieces);
            console.log('text', text.toString());
        } catch (error) { onError(error); }                    // the count is continued without the bytes
    }
    const app = new App('counter-js', [TYPE], { onContinue, onEvent, onError });
    const activity = await app.publish({ type: TYPE, supportsContinuationStreams: true }, {
        save: state, stream: socket => socket.on('error', onError).resume().end(text),
    });
    await activity.becomeCurrent();
    await app.start();                                         // events arrive from now on
    process.stdin.on('end', () => process.exit(0)).on('data', async bytes => {
        count += bytes.length;
        text = Buffer.concat([text, bytes]);
        await activity.update({ needsSave: true }).catch(onError);
        console.log('count', count);
    });
}
main().catch(error => { console.error('refused:', error.message); process.exit(1); });
