// Counts the bytes of its input; the count goes on at another device. Handoff in C: cc -o counter counter.c -ljansson
#include <jansson.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
static FILE *open_socket(struct sockaddr_un *place) {
    FILE *file = fdopen(socket(AF_UNIX, SOCK_STREAM, 0), "r+");
    setvbuf(file, NULL, _IONBF, 0);                            // unbuffered, so that poll knows all that waits
    return connect(fileno(file), (struct sockaddr *)place, sizeof *place) ? exit((perror("connect"), 1)), file : file;
}
static json_t *receive(FILE *file) {
    json_t *reply = json_loadf(file, JSON_DISABLE_EOF_CHECK, NULL);
    if (!reply || fgetc(file) || json_object_get(reply, "error")) exit((fputs("refused, or lost\n", stderr), 1));
    return json_object_get(reply, "parameters");
}
static json_t *call(FILE *file, const char *method, json_t *parameters, const char *key, json_t *value) {
    if (key) json_object_set_new(parameters, key, value);
    json_t *message = json_pack("{s:s+ s:O}", "method", "dev.handoff1.", method, "parameters", parameters);
    if (!strcmp(method, "Attach")) json_object_set_new(message, "more", json_true());
    char *text = json_dumps(message, 0);
    return write(fileno(file), text, strlen(text) + 1) > 0 ? receive(file) : NULL;   // with the NUL behind it
}
#define STATE "{s:s s:s s:{s:I s:f}}", "type", "com.example.counting", "title", "Counting", "userInfo", "count", count, "step", 1.0
int main(void) {
    char *path = getenv("HANDOFF_SOCKET"), *folder = getenv("XDG_RUNTIME_DIR"), bytes[4096];
    struct sockaddr_un place = {.sun_family = AF_UNIX};
    snprintf(place.sun_path, sizeof place.sun_path, path ? "%s" : "%s/handoff-app/app.socket", path ? path : folder);
    FILE *events = open_socket(&place), *calls = open_socket(&place);
    json_int_t count = 0;
    json_t *app = json_pack("{s:s s:[s]}", "app", "counter-c", "types", "com.example.counting"), *id;
    json_t *ours = json_pack("{s:O}", "session", json_object_get(call(events, "Attach", app, NULL, NULL), "session"));
    json_unpack(call(calls, "Publish", ours, "activity", json_pack(STATE)), "{s:O}", "activity", &id);
    call(calls, "BecomeCurrent", ours, "activity", id);
    for (struct pollfd ready[] = {{0, POLLIN, 0}, {fileno(events), POLLIN, 0}}; poll(ready, 2, -1) > 0; fflush(stdout)) {
        ssize_t length = ready[0].revents ? read(0, bytes, sizeof bytes) : 1;
        if (length <= 0) return 0;
        json_t *event = ready[0].revents ? json_pack("{s:s}", "event", "count") : receive(events);
        const char *name = json_string_value(json_object_get(event, "event"));
        if (!strcmp(name, "count")) count += length;
        if (!strcmp(name, "save")) call(calls, "AnswerSave", json_copy(ours), "change", json_pack(STATE));
        if (!json_unpack(event, "{s:O s:{s:{s:I}}}", "continuation", &id, "content", "userInfo", "count", &count))
            call(calls, "AnswerContinue", json_pack("{s:O s:b}", "session", json_object_get(ours, "session"), "handled", 1),
                 "continuation", id);
        if (!strcmp(name, "count") || !strcmp(name, "continue"))         // the state is asked for when it is needed
            call(calls, "Update", json_copy(ours), "change", json_pack("{s:b}", "needsSave", 1));
        printf("%s %d\n", name, (int)count);
    }
}
