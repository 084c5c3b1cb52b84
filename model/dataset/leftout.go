package dataset

import (
	"fmt"
	"slices"
	"strings"
)

// leftOut counts what a reader passes over, and keeps where the first of it is.
type leftOut struct {
	count int
	first string
}

// add counts one more; where says where it is.
func (l *leftOut) add(where string) {
	if l.count++; l.count == 1 {
		l.first = where
	}
}

// warn warns of what was counted.
func (l *leftOut) warn(d *Dataset, format string, args ...any) {
	if l.count > 0 {
		d.warnf("%s: %d; the first is %s", fmt.Sprintf(format, args...), l.count, l.first)
	}
}

// isRow reports whether all fields are numbers: a row of a table of measurements.
func isRow(fields []string) bool {
	return len(fields) > 0 && !slices.ContainsFunc(fields, func(f string) bool { _, err := parseFinite(f); return err != nil })
}

// looksLikeRow reports whether most of several fields are numbers: a row of a table, perhaps damaged.
func looksLikeRow(fields []string) bool {
	numbers := 0
	for _, f := range fields {
		if strings.ContainsAny(f, "0123456789") && strings.Trim(f, "+-.0123456789eE") == "" {
			numbers++
		}
	}
	return len(fields) > 1 && 2*numbers >= len(fields)
}
