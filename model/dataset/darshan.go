package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// The text of darshan-parser:
//
//	# darshan log version: 3.41
//	# nprocs: 64
//	# run time: 12.5
//	POSIX	-1	9457796068806373448	POSIX_BYTES_READ	1048576	/data/in	/data	lustre
//
// The fields are module, rank, record, counter, value, file, mount point and file system. Bytes, numbers of operations and times are
// added up over ranks and files; other counters, such as offsets and time stamps, have no sum. The parameter p is nprocs.

var darshanFormat = Format{Name: "darshan", Info: "darshan-parser text", Lines: true, Sniff: sniffDarshan, Read: readDarshan}

func sniffDarshan(head []byte) bool { return bytes.HasPrefix(head, []byte("# darshan log version:")) }

// darshanSums are the counters that can be added up.
var darshanSums = regexp.MustCompile(
	`_(BYTES_READ|BYTES_WRITTEN|OPENS|READS|WRITES|SEEKS|STATS|FSYNCS|F_READ_TIME|F_WRITE_TIME|F_META_TIME)$`)

// darshanRecord are the numbers of a rank, -1 for all of them, and of a record.
var darshanRecord = regexp.MustCompile(`^-?[0-9]+ [0-9]+$`)

func readDarshan(name string, data []byte) (*Dataset, error) {
	type counter struct{ module, name string }
	sums := map[counter]float64{}
	seen := map[string]bool{} // module, rank, record and counter
	logs := 0
	var ranks, runTime float64
	head := map[string]*float64{"nprocs": &ranks, "run time": &runTime}
	err := eachLine(name, data, func(_ int, text string) error {
		fields := strings.Split(text, "\t")
		if rest, comment := strings.CutPrefix(text, "#"); comment {
			if len(fields) >= 5 && darshanRecord.MatchString(fields[1]+" "+fields[2]) {
				return fmt.Errorf("%s stands in a comment: a line end is lost, or the row was commented out; remove it or restore it", fields[3])
			}
			key, value, _ := strings.Cut(strings.TrimSpace(rest), ": ")
			if key == "darshan log version" {
				if logs++; logs > 1 {
					return errors.New("a second log begins; give each a file of its own")
				}
			}
			if at := head[key]; at != nil {
				x, err := parseFinite(strings.TrimSpace(value))
				if err != nil || x < 0 {
					return fmt.Errorf("%s is %q; it is a number from 0 on", key, value)
				}
				*at = x
			}
			return nil
		}
		switch {
		case strings.TrimSpace(text) == "":
		case len(fields) < 5:
			return fmt.Errorf("has %d fields separated by tabs; darshan-parser writes module, rank, record, counter and value; "+
				"leave out its options, such as --total", len(fields))
		case !darshanRecord.MatchString(fields[1] + " " + fields[2]):
			return fmt.Errorf("the rank is %q and the record %q; both are numbers", fields[1], fields[2])
		case darshanSums.MatchString(fields[3]):
			x, err := parseFinite(fields[4])
			if err != nil {
				return fmt.Errorf("%s: %w", fields[3], err)
			}
			row := strings.Join(fields[:4], "\t")
			if seen[row] {
				return fmt.Errorf("%s of module %s, rank %s and record %s is there twice", fields[3], fields[0], fields[1], fields[2])
			}
			seen[row] = true
			switch {
			case x > 0:
				sums[counter{fields[0], fields[3]}] += x
			case x < 0 && x != -1: // which is: not recorded
				return fmt.Errorf("%s is %s, below 0", fields[3], fields[4])
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !(ranks > 0) {
		return nil, fmt.Errorf("%s: has no line \"# nprocs: N\"; keep the head of what darshan-parser writes", name)
	}
	d := New("p")
	at := []float64{ranks}
	add := func(path, metric, unit string, v float64) {
		d.addPresent(path, metric, at, values{v})
		d.Get(path, metric).Unit = unit
	}
	if runTime > 0 {
		add(RootPath, RunTime, "s", runTime)
	}
	for _, c := range slices.SortedFunc(maps.Keys(sums), func(a, b counter) int {
		return strings.Compare(a.module+"\t"+a.name, b.module+"\t"+b.name)
	}) {
		unit := ""
		switch {
		case strings.HasSuffix(c.name, "_TIME"):
			unit = "s"
		case strings.Contains(c.name, "_BYTES_"):
			unit = "B"
		}
		add(c.module, strings.ToLower(strings.TrimPrefix(c.name, c.module+"_")), unit, sums[c])
	}
	return d, nil
}
