package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptCommands are what the scripts can do beside the commands of testscript.
var scriptCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"code":  checkCode,
	"json":  checkJSON,
	"width": checkWidth,
	"holds": checkHolds,
}

// checkCode runs slackline and wants an exit code: code N slackline ARGS.
func checkCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N slackline ARGS...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if err != nil {
		got = exitCodeOf(err)
	}
	if fmt.Sprint(got) != args[0] {
		ts.Fatalf("exit code = %d, want %s; stderr:\n%s", got, args[0], ts.ReadFile("stderr"))
	}
}

func exitCodeOf(err error) int {
	type exitCoder interface{ ExitCode() int }
	if e, ok := err.(exitCoder); ok {
		return e.ExitCode()
	}
	return -1
}

// checkJSON looks up a member of a JSON file: json FILE PATH WANT, where PATH is
// a.b.c, with numbers for the places of lists, and WANT is JSON. With ! the
// member must be missing.
func checkJSON(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 && !(neg && len(args) == 2) {
		ts.Fatalf("usage: json FILE PATH WANT, or ! json FILE PATH")
	}
	var value any
	decoder := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	decoder.UseNumber()
	ts.Check(decoder.Decode(&value))
	ts.Check(holdResultAgainstSchema(value, []byte(ts.ReadFile(args[0]))))
	found := true
	for _, key := range strings.Split(args[1], ".") {
		switch v := value.(type) {
		case map[string]any:
			value, found = v[key]
		case []any:
			i := -1
			fmt.Sscan(key, &i)
			if found = i >= 0 && i < len(v); found {
				value = v[i]
			}
		default:
			found = false
		}
		if !found {
			break
		}
	}
	if neg {
		if found {
			ts.Fatalf("%s is there: %v", args[1], value)
		}
		return
	}
	if !found {
		ts.Fatalf("%s is missing", args[1])
	}
	var want any
	decoder = json.NewDecoder(strings.NewReader(args[2]))
	decoder.UseNumber()
	ts.Check(decoder.Decode(&want))
	if !reflect.DeepEqual(value, want) {
		ts.Fatalf("%s = %v, want %v", args[1], value, want)
	}
}

// checkWidth wants no line of a file to be longer: width FILE N.
func checkWidth(ts *testscript.TestScript, neg bool, args []string) {
	limit := 0
	if neg || len(args) != 2 {
		ts.Fatalf("usage: width FILE N")
	}
	if _, err := fmt.Sscan(args[1], &limit); err != nil {
		ts.Fatalf("width: %v", err)
	}
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > limit {
			ts.Fatalf("a line has %d letters, more than %d:\n%s", n, limit, line)
		}
	}
}

// checkHolds wants the named directory to hold exactly the named files: holds DIR FILE...
func checkHolds(ts *testscript.TestScript, neg bool, args []string) {
	list, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	if !reflect.DeepEqual(names, append([]string(nil), args[1:]...)) {
		ts.Fatalf("%s holds %v, want %v", args[0], names, args[1:])
	}
}
