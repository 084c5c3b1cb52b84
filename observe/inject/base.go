package inject

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"slackline/internal/atomicfile"
)

// What a message takes by itself is measured at the start of each run, when the machine may be busy. The shortest times that
// were ever measured on a host are kept beside the compiled library, for which they hold.

// baseFile is where the shortest times are kept.
func baseFile(shim string) string {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	return filepath.Join(filepath.Dir(shim), "base-"+filepath.Base(host))
}

// readBases reads the shortest times; nil: there are none, or the file is damaged.
func readBases(path string) []int64 {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return parseBases(string(data))
}

func parseBases(text string) []int64 {
	fields := strings.Split(strings.TrimSpace(text), ",")
	if len(fields) != reportBases {
		return nil
	}
	list := make([]int64, reportBases)
	for i, f := range fields {
		var err error
		if list[i], err = strconv.ParseInt(f, 10, 64); err != nil || list[i] <= 0 || i > 0 && list[i] < list[i-1] {
			return nil
		}
	}
	return list
}

func formatBases(list []int64) string {
	words := make([]string, len(list))
	for i, ns := range list {
		words[i] = strconv.FormatInt(ns, 10)
	}
	return strings.Join(words, ",")
}

// keepBases keeps the times of a run, which are the shortest so far: the library takes earlier ones into account.
func keepBases(path string, r *RankReport) error {
	text := formatBases(r.base[0])
	if r.hosts != 1 || parseBases(text) == nil {
		return nil
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, text)
		return err
	})
}
