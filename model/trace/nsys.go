package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"slackline/model/trace/kineto"
	"slackline/model/trace/nsys"
)

var nsysFormat = Format{
	Name: "nsys", Noun: "an export of Nsight Systems", Info: "SQLite database of Nsight Systems (nsys export --type sqlite), all " +
		"processes of a node",
	Sniff: nsys.Sniff, read: readNsys,
}

// readNsys reads an export of Nsight Systems.
func readNsys(src source, o Options) (*Trace, error) {
	return traceOf("Nsight Systems", func() (*kineto.Profile, error) {
		f, err := src.fsys.Open(src.main)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return nil, err
		}
		file, size := io.ReaderAt(nil), info.Size()
		if at, ok := f.(io.ReaderAt); ok {
			file = at
		} else {
			data, err := io.ReadAll(f)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", src.show, err)
			}
			file, size = bytes.NewReader(data), int64(len(data))
		}
		p, err := nsys.Read(file, size, src.show, o.Interrupt)
		if err == nil && o.Strict && len(p.Warnings) > 0 {
			return nil, errors.New(p.Warnings[0])
		}
		return p, err
	})
}
