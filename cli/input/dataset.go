package input

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"slackline/internal/provenance"
	"slackline/internal/source"
	"slackline/model/dataset"
)

// DatasetOptions define how measurements are opened.
type DatasetOptions struct {
	Stdin io.Reader // the input named "-"
	dataset.Options
}

// maxDataset is the size of a file of measurements that is still read.
const maxDataset = 1 << 30

// OpenDataset reads the measurements of files, directories and the standard input
// into one dataset, and the records of what was read.
func OpenDataset(ctx context.Context, words []string, o DatasetOptions) (*dataset.Dataset, []provenance.Input, error) {
	all := dataset.New()
	var records []provenance.Input
	for _, word := range words {
		part, record, err := openDataset(ctx, word, o)
		if err != nil {
			return nil, nil, err
		}
		records = append(records, record)
		if len(words) == 1 {
			return part, records, nil
		}
		all.Merge(part)
	}
	return all, records, nil
}

func openDataset(ctx context.Context, word string, o DatasetOptions) (*dataset.Dataset, provenance.Input, error) {
	record := provenance.Input{Path: word}
	if info, err := os.Stat(word); word != Stdin && err == nil && info.IsDir() {
		record.Kind = "directory of measurements"
		d, err := dataset.ReadDir(word, Dir(word), o.Options)
		return d, record, err
	}
	data, err := readAll(ctx, word, o.Stdin)
	if err != nil {
		return nil, record, err
	}
	name := word
	if word == Stdin {
		name = "stdin"
	}
	f, known := dataset.Sniff(data)
	if known && f.Mark != "" && word != Stdin && (o.Format == "" || o.Format == f.Name) {
		if _, err := os.Stat(filepath.Join(filepath.Dir(word), f.Mark)); err == nil {
			return openDataset(ctx, filepath.Dir(word), o) // one file of a directory that is read as a whole
		}
	}
	d, format, err := dataset.ReadNamed(name, data, o.Options)
	if err != nil && !known && o.Format == "" {
		err = notAnInput(word, err)
	}
	record.Kind, record.Bytes, record.SHA256 = format.Info, int64(len(data)), hash(data)
	return d, record, err
}

// ReadSmall reads what people write by hand, from a file or the standard input, and its record. It is read once: a pipe gives it
// only once.
func ReadSmall(ctx context.Context, word, kind string, stdin io.Reader) ([]byte, provenance.Input, error) {
	data, err := readAll(ctx, word, stdin)
	return data, provenance.Input{Path: word, Kind: kind, Bytes: int64(len(data)), SHA256: hash(data)}, err
}

// readAll reads a file of measurements.
func readAll(ctx context.Context, word string, stdin io.Reader) ([]byte, error) {
	if word != Stdin {
		f, content, err := open(ctx, word)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return source.Whole(word, f, content, maxDataset)
	} else if stdin == nil {
		return nil, errors.New("there is no standard input")
	}
	return source.Whole("stdin", stdin, Interruptible(ctx, stdin), maxDataset)
}
