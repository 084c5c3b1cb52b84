package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"slackline/model/trace/kineto"
	"slackline/model/trace/nsys"
)

var nsysFormat = Format{
	Name: "nsys", Noun: "an export of Nsight Systems", Info: "SQLite database of Nsight Systems (nsys export --type sqlite): a " +
		"file with all processes of a node, or a directory with one for each node",
	Sniff: nsys.Sniff, Among: nsys.Names, read: readNsys,
}

// readNsys reads the exports of Nsight Systems: a file, or all of a directory.
func readNsys(src source, o Options) (*Trace, error) {
	names, left, err := src.alike(nsys.Names, nsys.Sniff)
	if err != nil {
		return nil, err
	}
	return traceOf("Nsight Systems", left, func() (*kineto.Profile, error) {
		var files []nsys.File
		for _, name := range names {
			f, err := src.open(name)
			if err != nil {
				return nil, err
			}
			defer f.Close()
			export, err := exportOf(f, src.show)
			if err != nil {
				return nil, err
			}
			if len(names) > 1 {
				export.Show = src.showBeside(name)
			}
			files = append(files, export)
		}
		p, err := nsys.Read(files, o.Interrupt)
		if err == nil && o.Strict && len(p.Warnings) > 0 {
			return nil, errors.New(p.Warnings[0])
		}
		return p, err
	})
}

// exportOf is a file that can be read at any place.
func exportOf(f fs.File, show string) (nsys.File, error) {
	if at, ok := f.(io.ReaderAt); ok {
		info, err := f.Stat()
		if err != nil {
			return nsys.File{}, err
		}
		return nsys.File{At: at, Size: info.Size(), Show: show}, nil
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return nsys.File{}, fmt.Errorf("%s: %w", show, err)
	}
	return nsys.File{At: bytes.NewReader(data), Size: int64(len(data)), Show: show}, nil
}
