package input

import (
	"context"
	"io"
	"os"

	"slackline/internal/cluster"
	"slackline/model/schedule"
)

// Kind is what a word names.
type Kind uint8

// The kinds of inputs.
const (
	KindPattern  Kind = iota
	KindSchedule      // a file with a schedule, or the standard input
	KindSLK           // a regular file with a schedule of ours, of which parts can be read
	KindTrace         // a recorded run
)

// Kinds is what process 0 of a job has found out about words, so that the others need not look. Nil
// asks the disk.
type Kinds map[string]Kind

// FindKinds finds out on process 0 what words name, and tells all processes. A word that names
// nothing is an error there, which ends the job.
func FindKinds(ctx context.Context, g cluster.Group, words ...string) (Kinds, error) {
	kinds := Kinds{}
	if g.Rank() == 0 {
		for _, word := range words {
			kind, err := kindOf(word)
			if err != nil {
				return nil, err
			}
			kinds[word] = kind
		}
	}
	data, err := cluster.Encode(kinds)
	if err != nil {
		return nil, err
	}
	if data, err = cluster.Broadcast(ctx, g, data); err != nil {
		return nil, err
	}
	kinds = Kinds{}
	return kinds, cluster.Decode(data, &kinds)
}

// kindOf looks at a word.
func kindOf(word string) (Kind, error) {
	if IsTrace(word) {
		return KindTrace, nil
	}
	isFile, _, err := classify(word)
	switch {
	case err != nil:
		return 0, err
	case !isFile:
		return KindPattern, nil
	case isSLK(word):
		return KindSLK, nil
	}
	return KindSchedule, nil
}

// isSLK reports whether a word names a schedule of ours which can be read in parts.
func isSLK(word string) bool {
	if word == Stdin {
		return false
	}
	info, err := os.Stat(word)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	file, err := os.Open(word)
	if err != nil {
		return false // whoever reads it will find out why
	}
	defer file.Close()
	head := make([]byte, 64)
	n, _ := io.ReadFull(file, head)
	return schedule.IsSLK(head[:n])
}

// IsFile is the function IsFile.
func (k Kinds) IsFile(word string) bool {
	if kind, known := k[word]; known {
		return kind != KindPattern
	}
	return IsFile(word)
}

// IsTrace is the function IsTrace.
func (k Kinds) IsTrace(word string) bool {
	if kind, known := k[word]; known {
		return kind == KindTrace
	}
	return IsTrace(word)
}

// IsSchedule is the function IsSchedule.
func (k Kinds) IsSchedule(word string) bool { return k.IsFile(word) && !k.IsTrace(word) }
