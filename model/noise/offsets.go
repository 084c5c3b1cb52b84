package noise

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"strconv"

	"slackline/internal/yamlfile"
)

// Alignment defines which ranks go through a trace at the same offset.
type Alignment uint8

// The alignments.
const (
	Independent Alignment = iota // each rank has an offset of its own
	ByNode                       // the ranks of a node share one
	CoScheduled                  // all ranks share one
)

// Offsets defines how offsets are drawn.
type Offsets struct {
	Alignment Alignment
	Node      func(rank int) int // node of a rank, for ByNode
	Seed      uint64
}

// Draw fills offsets with whole nanoseconds, given in picoseconds, uniform in [0, period). The
// offset of a rank depends on the seed, the period and its rank (or node) alone, not on the number
// of ranks.
func (o Offsets) Draw(offsets []int64, period int64) {
	choices := uint64(period-1)/1000 + 1
	for r := range offsets {
		number := 0
		switch {
		case o.Alignment == Independent:
			number = r
		case o.Alignment == ByNode && o.Node != nil:
			number = o.Node(r)
		}
		hi, _ := bits.Mul64(mix(o.Seed, uint64(number)), choices)
		offsets[r] = int64(hi) * 1000
	}
}

// ReplicaSeed returns the seed of replica i of a run with the given seed.
func ReplicaSeed(seed uint64, i int) uint64 { return mix(seed^0xD1B54A32D192ED03, uint64(i)) }

// mix is a hash of a seed and a number: two rounds of the finalizer of SplitMix64.
func mix(seed, n uint64) uint64 {
	return finalize(finalize(seed+0x9E3779B97F4A7C15) + (n+1)*0x9E3779B97F4A7C15)
}

func finalize(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// ReadOffsets reads a file of offsets, one whole number of nanoseconds of at least 0 per line, one
// line for each rank. Empty lines at the end do not count. The name is for messages.
func ReadOffsets(name string, r io.Reader, ranks int) ([]int64, error) {
	offsets := make([]int64, 0, min(max(ranks, 0), 1<<20))
	lines := bufio.NewScanner(r)
	empty := 0
	line := 0
	for lines.Scan() {
		line++
		text := bytes.TrimSpace(lines.Bytes())
		if len(text) == 0 {
			empty = line
			continue
		}
		if empty > 0 {
			return nil, &FileError{name, empty, "is empty; give one offset per line"}
		}
		ns, err := strconv.ParseUint(string(text), 10, 63)
		if err != nil || ns > maxNS {
			return nil, &FileError{name, line, fmt.Sprintf("offset %s is not a whole number of nanoseconds from 0 to %d",
				yamlfile.Quote(string(text)), uint64(maxNS))}
		}
		if len(offsets) == ranks {
			return nil, &FileError{name, line, fmt.Sprintf("is one offset more than there are ranks (%d); give one for each rank", ranks)}
		}
		offsets = append(offsets, int64(ns)*1000)
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, &FileError{name, line + 1, "is longer than any offset"}
	} else if err != nil {
		return nil, &FileError{name, line + 1, err.Error()}
	}
	if len(offsets) < ranks {
		return nil, &FileError{name, 0, fmt.Sprintf("%d offsets for %d ranks; give one for each rank", len(offsets), ranks)}
	}
	return offsets, nil
}

// WriteOffsets writes offsets, given in picoseconds, as ReadOffsets reads them. An offset that is
// no whole number of nanoseconds is an error.
func WriteOffsets(w io.Writer, offsets []int64) error {
	out := bufio.NewWriter(w)
	var buf []byte
	for r, o := range offsets {
		if o < 0 || o%1000 != 0 {
			return fmt.Errorf("noise: the offset of rank %d is %d ps, no whole number of nanoseconds", r, o)
		}
		buf = append(strconv.AppendInt(buf[:0], o/1000, 10), '\n')
		out.Write(buf) // errors stay until Flush
	}
	return out.Flush()
}

// FileError is a mistake in a file.
type FileError struct {
	File    string
	Line    int // from 1; 0 if the mistake has no place
	Message string
}

// Error returns "file:line: message".
func (e *FileError) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Message
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Message)
}
