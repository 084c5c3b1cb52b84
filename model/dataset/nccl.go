package dataset

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// nccl-tests:
//
//	# Collective test starting: all_reduce_perf
//	#  Rank  0 Group  0 Pid   4711 on      node1 device  0 [0x07] NVIDIA A100
//	#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
//	           8             2     float     sum      -1    34.12    0.00    0.00      0    33.88    0.00    0.00      0
//
// The first four columns of results are out of place, the next four in place. Ranks are counted by their lines.

var ncclFormat = Format{Name: "nccl", Info: "nccl-tests", Lines: true, PlaceInName: true, Sniff: sniffNCCL, Read: readNCCL}

func sniffNCCL(head []byte) bool { return ncclHeader.Match(head) }

var (
	ncclHeader = regexp.MustCompile(`(?m)^#\s+size\s+count\s.*\btime\s+algbw\s+busbw\b`)
	ncclRank   = regexp.MustCompile(`^#\s+Rank\s+(\d+)\s`)
	ncclTitle  = regexp.MustCompile(`^#\s*Collective test starting:\s*(\S+)`)
)

// ncclUnits are the metrics of a row, with the factor that turns them into their unit.
var ncclUnits = map[string]struct {
	unit   string
	factor float64
}{"time": {"s", 1e-6}, "algbw": {"GB/s", 1}, "busbw": {"GB/s", 1}}

func readNCCL(name string, data []byte) (*Dataset, error) {
	d := New()
	test, ranks := "nccl", 0
	var header []string
	var rows ncclRows
	var early leftOut
	err := eachLine(name, data, func(number int, line string) error {
		text := strings.TrimSpace(line)
		fields := strings.Fields(text)
		switch m := ncclTitle.FindStringSubmatch(text); {
		case m != nil:
			test, ranks = strings.TrimSuffix(m[1], "_perf"), 0
		case ncclRank.MatchString(text):
			switch rank := ncclRank.FindStringSubmatch(text)[1]; rank {
			case "0":
				ranks = 1
			case strconv.Itoa(ranks):
				ranks++
			default:
				return fmt.Errorf("the line of rank %s follows that of rank %d; lines are lost or twice", rank, ranks-1)
			}
		case ncclHeader.MatchString(text):
			header = fields[1:]
			rows.begin()
			n := map[string]int{}
			for _, column := range header {
				n[column]++
			}
			if n["time"] != n["algbw"] || n["time"] != n["busbw"] {
				return errors.New("the names of columns are damaged: time, algbw and busbw are there once or twice each")
			}
		case len(fields) == 0, text[0] == '#':
		case header == nil:
			if looksLikeRow(fields) && startsWithNumber(fields) {
				early.add(fmt.Sprintf("line %d", number))
			}
		case !startsWithNumber(fields) && !(len(fields) == len(header) && looksLikeRow(fields)): // of the launcher
		case len(fields) != len(header):
			return fmt.Errorf("has %d fields below %d columns; is the line complete?", len(fields), len(header))
		default:
			rows.row(header, fields, number)
			return d.addNCCL(test, ranks, header, fields, &rows, number)
		}
		return nil
	})
	early.warn(d, "%s: rows of numbers before the names of the columns are left out", name)
	rows.wrong.warn(d, "%s: rows with wrong results are kept", name)
	rows.odd.warn(d, "%s: rows whose bandwidth (algbw) is not size divided by time (are they damaged?)", name)
	rows.warn(d, name)
	return d, err
}

// ncclRows looks for what cannot be in a table.
type ncclRows struct {
	tableCheck
	wrong leftOut // rows with wrong results
	odd   leftOut // rows whose values contradict one another
}

// ncclFits reports whether a bandwidth in GB/s is that of so many bytes in so many us, with what is rounded.
func ncclFits(bytes, time, bandwidth float64) bool {
	want := bytes / time / 1000
	return !(time > 0) || math.Abs(bandwidth-want) <= 0.006+0.01*want
}

func startsWithNumber(fields []string) bool {
	_, err := parseFinite(fields[0])
	return err == nil
}

// addNCCL adds the results of a row.
func (d *Dataset) addNCCL(test string, ranks int, header, fields []string, rows *ncclRows, number int) error {
	bytes, err := parseFinite(fields[0])
	if err != nil {
		return err
	}
	names, at := []string{"bytes"}, []float64{bytes}
	if ranks > 0 {
		names, at = append(names, "p"), append(at, float64(ranks))
	}
	seen := map[string]bool{}
	time := 0.0
	for i, column := range header {
		u, known := ncclUnits[column]
		if !known {
			if (column == "#wrong" || column == "error") && strings.Trim(fields[i], "0.e+-") != "" && fields[i] != "N/A" {
				rows.wrong.add(fmt.Sprintf("line %d", number))
			}
			continue
		}
		metric := "out_of_place_" + column
		if seen[column] {
			metric = "in_place_" + column
		}
		seen[column] = true
		v, err := parseFinite(fields[i])
		if err != nil {
			return fmt.Errorf("%s: %w", column, err)
		}
		if column == "time" {
			time = v
		} else if column == "algbw" && test != "hypercube" && !ncclFits(bytes, time, v) {
			rows.odd.add(fmt.Sprintf("line %d", number))
		}
		d.Put(test, metric, names, at, v*u.factor)
		d.Get(test, metric).Unit = u.unit
	}
	return nil
}
