// Handoff for VS Code: offers the current file to the user's other devices, and opens files from them. It follows the
// documented interface of extensions, and was tested only with a stub of it. docs/editors.md describes the behaviour.
// handoff-editor describes the messages.
'use strict';
const { spawn } = require('child_process');
const fs = require('fs');
const path = require('path');
const vscode = require('vscode');

let program, front;
let rest = '';

function send(message) {
    if (program && program.stdin.writable) program.stdin.write(JSON.stringify(message) + '\n');
}

function show() {
    const editor = vscode.window.activeTextEditor;
    if (!editor || editor.document.uri.scheme !== 'file') return;
    front = editor;
    send({ front: editor.document.uri.fsPath });
}

// Positions are in UTF-16 units here, and in characters in the messages.
function state() {
    if (!front || front.document.isClosed) return {};
    const document = front.document, active = front.selection.active;
    const before = document.lineAt(active.line).text.slice(0, active.character);
    return { file: document.uri.fsPath, line: active.line + 1, column: [...before].length + 1, unsaved: document.isDirty };
}

function positionIn(document, line, column) {
    const number = Math.min(line, document.lineCount) - 1;
    return new vscode.Position(number, [...document.lineAt(number).text].slice(0, column - 1).join('').length);
}

async function open(message) {
    const notes = [...message.notes];
    let text = null;
    if (message.text !== null) {
        text = fs.readFileSync(message.text, 'utf8');
        fs.unlinkSync(message.text);
    }
    let editor = null;
    if (message.file !== null) {
        const document = await vscode.workspace.openTextDocument(vscode.Uri.file(message.file));
        editor = await vscode.window.showTextDocument(document, { preview: false });
    }
    if (text !== null) {
        // An automatic save would write the text to the disk.
        const saves = vscode.workspace.getConfiguration('files', editor && editor.document.uri).get('autoSave', 'off') !== 'off';
        if (editor && message.apply && !editor.document.isDirty && !saves) {
            const last = editor.document.lineAt(editor.document.lineCount - 1).range.end;
            const isDone = await editor.edit(edit => edit.replace(new vscode.Range(new vscode.Position(0, 0), last), text));
            notes.push(isDone ? 'the text is not saved yet' : 'the text could not be placed into the file');
        } else {
            if (editor && editor.document.isDirty) notes.unshift('the file has unsaved changes here: the text is shown next to it');
            if (saves) notes.unshift('files are saved automatically: the text is shown next to the file');
            const document = await vscode.workspace.openTextDocument({ content: text });
            editor = await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preview: false });
        }
    }
    if (editor) {
        const position = positionIn(editor.document, message.line, message.column);
        editor.selection = new vscode.Selection(position, position);
        editor.revealRange(new vscode.Range(position, position), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    }
    // Not awaited, because it ends when the user closes the message.
    if (notes.length) vscode.window.showInformationMessage('Handoff: ' + notes.join('; '));
}

function received(line) {
    let message;
    try { message = JSON.parse(line); } catch { return; }
    if (message.do === 'state') send({ state: state() });
    if (message.do === 'text') {
        let current = state();
        // A request without a reply would prevent all later ones.
        try {
            // The text of a file with CRLF has both characters. Other editors would show the first one in each line.
            if (current.file) fs.writeFileSync(message.path, front.document.getText().replace(/\r\n/g, '\n'));
        } catch { current = {}; }
        send({ text: true, state: current });
    }
    if (message.do === 'open') {
        open(message).catch(error => vscode.window.showWarningMessage(`Handoff: ${error.message}`));
    }
}

exports.activate = context => {
    // The locations in a checkout, in an installation, and relative to the folder of the user's extensions.
    const places = ['../handoff-editor', '../../../../bin/handoff-editor'].map(each => path.join(__dirname, each));
    const found = [...places, '/usr/bin/handoff-editor', '/usr/local/bin/handoff-editor'].find(each => fs.existsSync(each));
    if (!found) return;
    program = spawn(found, ['serve', 'code'], { stdio: ['pipe', 'pipe', 'ignore'] });
    program.on('error', () => { program = null; });
    program.on('exit', () => { program = null; });
    program.stdin.on('error', () => {});
    program.stdout.setEncoding('utf8').on('data', data => {
        const lines = (rest + data).split('\n');
        rest = lines.pop();
        lines.forEach(received);
    });
    context.subscriptions.push(
        vscode.window.onDidChangeActiveTextEditor(show),
        vscode.workspace.onDidSaveTextDocument(show),
        vscode.window.onDidChangeWindowState(event => event.focused && show()),
        { dispose: exports.deactivate });
    show();
};

exports.deactivate = () => { if (program) program.stdin.end(); };
