// Counts the bytes of its input, and continues the count and the bytes on another device. Build: cc -o counter counter.c -ljansson
#include <jansson.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>
#define STATE "{s:s s:s s:b s:{s:I s:f}}", "type", "com.example.counting", "title", "Counting", \
    "supportsContinuationStreams", 1, "userInfo", "count", count, "step", 1.0
#define CHANGE "{s:s s:{s:I s:f}}", "title", "Counting", "userInfo", "count", count, "step", 1.0
static jmp_buf away;                                           // the target after the end of a connection
static FILE *events, *calls;
static json_t *session;
static json_int_t count;
static char text[1 << 20];                                     // the bytes, up to the capacity
static size_t length;

static FILE *open_socket(void) {
    char *path = getenv("HANDOFF_SOCKET"), *folder = getenv("XDG_RUNTIME_DIR");
    struct sockaddr_un place = {.sun_family = AF_UNIX};
    snprintf(place.sun_path, sizeof place.sun_path, path ? "%s" : "%s/handoff-app/app.socket", path ? path : folder);
    FILE *file = fdopen(socket(AF_UNIX, SOCK_STREAM, 0), "r+");
    setvbuf(file, NULL, _IONBF, 0);                            // unbuffered, so that poll sees all pending data
    if (connect(fileno(file), (struct sockaddr *)&place, sizeof place)) longjmp(away, (fclose(file), 1));
    return file;
}
static json_t *receive(FILE *file) {                           // NULL for an error, which affects only this call
    json_t *reply = json_loadf(file, JSON_DISABLE_EOF_CHECK, NULL);
    if (!reply || fgetc(file)) longjmp(away, 1);
    json_t *error = json_object_get(reply, "error");
    if (error) fprintf(stderr, "refused: %s\n", json_string_value(error));
    return error ? NULL : json_object_get(reply, "parameters");
}
static json_t *call(FILE *file, const char *method, json_t *parameters, const char *flag) {
    if (session && !flag) json_object_set(parameters, "session", session);
    json_t *message = json_pack("{s:s+ s:o}", "method", "dev.handoff1.", method, "parameters", parameters);
    if (flag) json_object_set_new(message, flag, json_true());
    char *line = json_dumps(message, 0);
    if (write(fileno(file), line, strlen(line) + 1) < 0) longjmp(away, 1);       // with the final NUL
    return receive(file);
}
static FILE *open_stream(const char *kind, json_t *event) {    // on a separate connection, which becomes the stream
    FILE *file = open_socket();
    setsockopt(fileno(file), SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){30, 0}, sizeof(struct timeval));
    if (call(file, "OpenStream", json_pack("{s:O}", kind, json_object_get(event, kind)), "upgrade")) return file;
    fclose(file);
    return NULL;
}
static void read_input(void) {
    char bytes[4096];
    ssize_t got = read(0, bytes, sizeof bytes);
    if (got <= 0) exit(0);
    size_t kept = length + got <= sizeof text ? (size_t)got : sizeof text - length;
    memcpy(text + length, bytes, kept);
    count += got, length += kept;
}
static void handle(json_t *event, const char *name, json_t *id) {
    json_t *continuation = json_object_get(event, "continuation");
    FILE *stream;
    if (!strcmp(name, "save")) call(calls, "AnswerSave", json_pack("{s:O s:o}", "activity", id, "change", json_pack(CHANGE)), NULL);
    if (!strcmp(name, "stream") && (stream = open_stream("stream", event))) {
        for (size_t sent = 0, now = 1; sent < length && now > 0; sent += now) now = fwrite(text + sent, 1, length - sent, stream);
        fclose(stream);
    }
    if (!json_unpack(event, "{s:{s:{s:I}}}", "content", "userInfo", "count", &count))
        call(calls, "AnswerContinue", json_pack("{s:O s:b}", "continuation", continuation, "handled", 1), NULL);
    if (!strcmp(name, "count") || !strcmp(name, "continue"))   // the state is saved when it is needed
        call(calls, "Update", json_pack("{s:O s:{s:b}}", "activity", id, "change", "needsSave", 1), NULL);
    if (!strcmp(name, "continue") && (stream = open_stream("continuation", event))) {
        length = fread(text, 1, sizeof text, stream);
        fclose(stream);
        printf("text %.*s\n", (int)length, text);
    }
    printf("%s %d\n", name, (int)count);
    fflush(stdout);
}
int main(void) {
    signal(SIGPIPE, SIG_IGN);
    if (setjmp(away)) {                                        // not running: the offered activity no longer exists
        fputs("away: handoffd is not running\n", stderr);
        if (events) fclose(events);
        if (calls) fclose(calls);
        if (poll(&(struct pollfd){0, POLLIN, 0}, 1, 1000) > 0) read_input();
    }
    events = calls = NULL, session = NULL;
    events = open_socket(), calls = open_socket();
    json_t *app = json_pack("{s:s s:[s]}", "app", "counter-c", "types", "com.example.counting");
    session = json_object_get(call(events, "Attach", app, "more"), "session");
    json_t *id = session ? json_object_get(call(calls, "Publish", json_pack("{s:o}", "activity", json_pack(STATE)), NULL), "activity") : NULL;
    if (!id) return 1;                                         // retrying would not help
    call(calls, "BecomeCurrent", json_pack("{s:O}", "activity", id), NULL);
    for (struct pollfd ready[] = {{0, POLLIN, 0}, {fileno(events), POLLIN, 0}}; poll(ready, 2, -1) > 0;) {
        if (ready[0].revents) read_input();
        json_t *event = ready[0].revents ? json_pack("{s:s}", "event", "count") : receive(events);
        handle(event, json_string_value(json_object_get(event, "event")), id);
    }
}
