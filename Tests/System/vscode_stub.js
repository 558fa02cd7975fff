// Runs the extension for VS Code with a stub of the documented interface, one document at a time. Reads lines of JSON with
// changes of the test, and prints the state after each.
'use strict';
const fs = require('fs');
const Module = require('module');
const [extension, file, autoSave] = process.argv.slice(2);
const handlers = {};

class Position { constructor(line, character) { Object.assign(this, { line, character }); } }
class Range { constructor(start, end) { Object.assign(this, { start, end }); } }
class Selection extends Range { get active() { return this.end; } }

class Document {
    constructor(path, text) { Object.assign(this, { path, text, isDirty: path === '', isClosed: false }); }
    get uri() { return { scheme: this.path ? 'file' : 'untitled', fsPath: this.path }; }
    get lines() { return this.text.split('\n'); }
    get lineCount() { return this.lines.length; }
    getText() { return this.text; }
    lineAt(number) {
        const text = this.lines[number];
        if (text === undefined) throw new Error('Illegal value for `line`');
        return { text, range: new Range(new Position(number, 0), new Position(number, text.length)) };
    }
}

class Editor {
    constructor(document) { this.document = document; this.selection = new Selection(new Position(0, 0), new Position(0, 0)); }
    revealRange() {}
    async edit(change) {
        change({ replace: (range, text) => {
            if (range.end.line !== this.document.lineCount - 1) throw new Error('only the whole text is replaced');
            this.document.text = text;
            this.document.isDirty = true;
        } });
        return true;
    }
}

const on = name => handler => { handlers[name] = handler; return { dispose() {} }; };
const messages = [];
const vscode = {
    Position, Range, Selection, Uri: { file: path => ({ fsPath: path }) }, ViewColumn: { Beside: -2 },
    TextEditorRevealType: { InCenterIfOutsideViewport: 2 },
    window: {
        activeTextEditor: undefined, onDidChangeActiveTextEditor: on('active'), onDidChangeWindowState: on('window'),
        showInformationMessage: text => { messages.push(text); return new Promise(() => {}); },
        showWarningMessage: text => { messages.push(text); return new Promise(() => {}); },
        async showTextDocument(document) {
            vscode.window.activeTextEditor = new Editor(document);
            handlers.active();
            return vscode.window.activeTextEditor;
        },
    },
    workspace: {
        onDidSaveTextDocument: on('save'), getConfiguration: () => ({ get: (_, usual) => autoSave || usual }),
        async openTextDocument(what) {
            const open = vscode.window.activeTextEditor;
            if (open && what.fsPath && open.document.path === what.fsPath) return open.document;
            return what.fsPath ? new Document(what.fsPath, fs.readFileSync(what.fsPath, 'utf8')) : new Document('', what.content);
        },
    },
};
const load = Module._load;
Module._load = (name, ...rest) => name === 'vscode' ? vscode : load(name, ...rest);

vscode.window.activeTextEditor = new Editor(new Document(file, fs.readFileSync(file, 'utf8')));
const context = { subscriptions: [] };
require(extension).activate(context);

require('readline').createInterface({ input: process.stdin }).on('line', line => {
    const change = JSON.parse(line), editor = vscode.window.activeTextEditor;
    if (change.text !== undefined) Object.assign(editor.document, { text: change.text, isDirty: true });
    if (change.line) {
        const position = new Position(change.line - 1, change.character);
        editor.selection = new Selection(position, position);
    }
    const { document, selection } = editor;
    console.log(JSON.stringify([document.path, selection.active.line + 1, selection.active.character, document.text, document.isDirty,
                                messages.join(' ')]));
}).on('close', () => context.subscriptions.forEach(each => each.dispose()));
