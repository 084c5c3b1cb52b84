package input

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"

	"slackline/internal/fault"
	"slackline/internal/memory"
	"slackline/internal/provenance"
	"slackline/internal/source"
	"slackline/model/schedule"
)

// headBytes is how much of an input is looked at before it is read as a whole.
const headBytes = 1 << 20

// read returns the content of a file, its format, and what messages call it. The format is found from
// the start, so that a long or endless input of no known format is not read.
func read(ctx context.Context, word string, stdin io.Reader) (name string, format schedule.Format, data []byte, err error) {
	name, r, file := "stdin", stdin, stdin
	if word != Stdin {
		f, content, err := open(ctx, word)
		if err != nil {
			return "", format, nil, err
		}
		defer f.Close()
		name, r, file = word, content, f
	} else if stdin == nil {
		return "", format, nil, errors.New("there is no standard input")
	} else {
		r = Interruptible(ctx, stdin)
	}
	head := make([]byte, headBytes)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", format, nil, fmt.Errorf("%s: %w", name, err)
	}
	format, sniffErr := schedule.Sniff(name, head[:n])
	if sniffErr != nil {
		return name, format, head[:n], notAnInput(word, sniffErr)
	}
	if err != nil {
		return name, format, head[:n], nil
	}
	data, err = readRest(name, head, r, file)
	return name, format, data, err
}

// readRest reads an input to its end, after the head. It gives up before the memory of the machine does: what is not a regular file is in
// memory twice when it is put together.
func readRest(name string, head []byte, r, file io.Reader) ([]byte, error) {
	size, regular := source.Size(file)
	limit, share := memoryLimit()-1, "half"
	if !regular {
		limit, share = limit/2, "a quarter"
	}
	data, fits, err := source.Fitting(io.MultiReader(bytes.NewReader(head), r), size, limit)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if fits {
		return data, nil
	}
	return nil, fmt.Errorf("%s has more than %d MiB, %s of the free memory; cut it into parts, or write it as slk", name, limit>>20, share)
}

// memoryLimit is how much memory a schedule may take: half of what is free.
func memoryLimit() int64 {
	if free, ok := memory.Available(); ok {
		return free / 2
	}
	return math.MaxInt64
}

// openToRun reads a file with a schedule in the form in which it is run. Of a regular file no more is in memory than
// is needed at a time; pipes and the standard input are read to their end first.
func openToRun(ctx context.Context, word string, o Options, notes []string) (*Input, error) {
	in := &Input{Name: word, Notes: notes}
	pack := func(name string, format schedule.Format, file io.ReaderAt, size int64) error {
		threads := o.ToRun.Threads
		if threads <= 0 {
			threads = runtime.GOMAXPROCS(0)
		}
		sum := make(chan provenance.Input, 1)
		in.Format = format.Name
		record := provenance.Input{Path: word, Kind: format.Name, Bytes: size}
		if o.Hash { // beside the reading, which takes longer
			fault.Go(func() { sum <- hashed(record, io.NewSectionReader(file, 0, size)) })
		} else {
			sum <- record
		}
		packed, err := format.Pack(name, file, size, schedule.PackOptions{Threads: threads, Memory: memoryLimit()})
		in.Program, in.Record = packed, <-sum
		return err
	}
	var err error
	if info, statErr := os.Stat(word); word != Stdin && statErr == nil && info.Mode().IsRegular() {
		err = packFile(word, pack)
	} else {
		var name string
		var format schedule.Format
		var data []byte
		if name, format, data, err = read(ctx, word, o.Stdin); err == nil {
			err = pack(name, format, bytes.NewReader(data), int64(len(data)))
		}
	}
	if err != nil {
		return nil, err
	}
	return in, nil
}

// packFile calls pack with a regular file and its format.
func packFile(word string, pack func(name string, format schedule.Format, file io.ReaderAt, size int64) error) error {
	f, err := os.Open(word)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	head := make([]byte, min(headBytes, info.Size()))
	if n, err := f.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: %w", word, err)
	} else {
		head = head[:n]
	}
	format, err := schedule.Sniff(word, head)
	if err != nil {
		return notAnInput(word, err)
	}
	return pack(word, format, f, info.Size())
}

// hashed returns the record of what r gives with its hash.
func hashed(record provenance.Input, r io.Reader) provenance.Input {
	m := provenance.NewMeter(r)
	if _, err := io.Copy(io.Discard, m); err == nil {
		_, record.SHA256 = m.Sum()
	}
	return record
}
