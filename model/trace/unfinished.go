package trace

import (
	"bytes"
	"fmt"
	"path"
	"strings"
)

// unfinishedFormat is no format that is read: it knows the raw files of a recorded run that was not completed, to say what to do with
// them.
var unfinishedFormat = Format{
	Name:  "raw",
	Sniff: func(head []byte) bool { return bytes.HasPrefix(head, []byte("slraw1\x00\x00")) },
	Main: func(names []string) string {
		for _, name := range names {
			var rank, thread int
			if n, _ := fmt.Sscanf(name, "r%d-t%d", &rank, &thread); n == 2 && strings.HasSuffix(name, ".evt") {
				return name
			}
		}
		return ""
	},
	read: func(src source, _ Options) (*Trace, error) {
		return nil, &FileError{File: src.show, Offset: -1, What: fmt.Sprintf(
			"this is of a recorded run that was not completed; 'slackline record --recover %s' makes a trace of it", shellWord(path.Dir(src.show)))}
	},
}

// shellWord is a word as a shell reads it.
func shellWord(word string) string {
	if strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+=:@%,") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
