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

// FindKinds finds out on process 0 what words name, and sends it to all processes. A word that names
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
	return kinds, cluster.BroadcastValue(ctx, g, &kinds)
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
	head, _ := Head(word)
	return schedule.IsSLK(head)
}

// headSize is how much of a file is read to decide what it is.
const headSize = 64 << 10

// Head returns the first bytes of a regular file; nothing of all else, which cannot be read twice.
func Head(word string) ([]byte, error) {
	info, err := os.Stat(word)
	if err != nil || word == Stdin || !info.Mode().IsRegular() {
		return nil, err
	}
	file, err := os.Open(word)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, headSize))
}

// HasSchedule reports whether a regular file is a schedule in one of the formats.
func HasSchedule(word string) (bool, error) {
	head, err := Head(word)
	return err == nil && IsScheduleHead(word, head), err
}

// IsScheduleHead reports whether a file that begins with head is a schedule in one of the formats.
func IsScheduleHead(word string, head []byte) bool {
	_, err := schedule.Sniff(word, head)
	return len(head) > 0 && err == nil
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
