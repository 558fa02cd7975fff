// A client of the daemon over Debian's Go library for Varlink (golang-github-varlink-go-dev), built by go_client.py.
//
//	varlink_client read FILE...       parses interface files
//	varlink_client ask ADDRESS        prints a service's description of itself, as one JSON object
//	varlink_client call ADDRESS METHOD PARAMETERS
//	                                  prints the reply to a call; for an error its name, with exit code 3
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/varlink/go/varlink"
	"github.com/varlink/go/varlink/idl"
)

func check(what string, err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", what, err)
		os.Exit(1)
	}
}

var interfaceLine = regexp.MustCompile(`(?m)^interface .*$`)

// Parses an interface. Debian's version 0.4.0 of the library rejects capital letters in the name of an interface, which
// Varlink allows and systemd uses. The name is therefore passed in lower case.
func parse(what string, text string) *idl.IDL {
	description, err := idl.New(interfaceLine.ReplaceAllStringFunc(text, strings.ToLower))
	check(what, err)
	return description
}

func read(paths []string) {
	for _, path := range paths {
		text, err := os.ReadFile(path)
		check(path, err)
		parse(path, string(text))
	}
}

func ask(connection *varlink.Connection) {
	var vendor, product, version, url string
	var interfaces []string
	check("GetInfo", connection.GetInfo(context.Background(), &vendor, &product, &version, &url, &interfaces))
	methods := map[string]int{}
	for _, name := range interfaces {
		text, err := connection.GetInterfaceDescription(context.Background(), name)
		check(name, err)
		methods[name] = len(parse(name, text).Methods)
	}
	said := map[string]interface{}{"product": product, "version": version, "methods": methods}
	check("output", json.NewEncoder(os.Stdout).Encode(said))
}

func call(connection *varlink.Connection, method string, parameters string) {
	var reply json.RawMessage
	err := connection.Call(context.Background(), method, json.RawMessage(parameters), &reply)
	if refused, ok := err.(*varlink.Error); ok {
		fmt.Println(refused.Name)
		os.Exit(3)
	}
	check(method, err)
	fmt.Println(string(reply))
}

func main() {
	words := os.Args[1:]
	if words[0] == "read" {
		read(words[1:])
		return
	}
	connection, err := varlink.NewConnection(context.Background(), words[1])
	check(words[1], err)
	if words[0] == "ask" {
		ask(connection)
	} else {
		call(connection, words[2], words[3])
	}
}
