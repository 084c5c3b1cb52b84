package dataset_test

import (
	"bytes"
	"testing"
	"testing/fstest"

	"slackline/model/cube"
	"slackline/model/dataset"
)

// cubeFile is a profile of two locations: main calls f, with exclusive times.
func cubeFile(t *testing.T, factor float64) []byte {
	t.Helper()
	var b bytes.Buffer
	err := cube.Write(&b, &cube.Report{
		Regions:   []cube.Region{{Name: "main"}, {Name: "f"}},
		Nodes:     []cube.Node{{Parent: -1, Region: 0}, {Parent: 0, Region: 1}},
		Processes: []cube.Process{{Rank: 0, Host: "a", Threads: []string{"master"}}, {Rank: 1, Host: "a", Threads: []string{"master"}}},
		Metrics: []cube.Values{{
			Name: "time", Title: "Time", Unit: "sec", Rows: map[int][]float64{0: {factor, 2 * factor}, 1: {3 * factor, 4 * factor}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Locations are repetitions, or are added up; the point is in the name of the file or its directory.
func TestReadCube(t *testing.T) {
	for _, tc := range []struct {
		sum  bool
		want string
	}{
		{false, "p\nmain time [16]=[1 2]\nmain->f time [16]=[3 4]"},
		{true, "p\nmain time [16]=[3]\nmain->f time [16]=[7]"},
	} {
		d, _, err := dataset.ReadNamed("runs/app.p16.cubex", cubeFile(t, 1), dataset.Options{SumLocations: tc.sum})
		if err != nil {
			t.Fatal(err)
		}
		if got := text(d); got != tc.want {
			t.Errorf("sum %v: dataset =\n%s\nwant\n%s", tc.sum, got, tc.want)
		}
	}
	dir := fstest.MapFS{"app.p4.r1/profile2.cubex": {Data: cubeFile(t, 1)}, "app.p8.r1/profile2.cubex": {Data: cubeFile(t, 2)}}
	d, err := dataset.ReadDir("runs", dir, dataset.Options{SumLocations: true})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := text(d), "p\nmain time [4]=[3] [8]=[6]\nmain->f time [4]=[7] [8]=[14]"; got != want {
		t.Errorf("directory =\n%s\nwant\n%s", got, want)
	}
}

// Times below 0 are reported with the file.
func TestCubeBelowZero(t *testing.T) {
	const want = "x.cubex: times of call paths below 0 (is it damaged?): 2; the first is time of main"
	d, _, err := dataset.Read("x.cubex", cubeFile(t, -1), "")
	if err != nil || len(d.Warnings) != 1 || d.Warnings[0] != want {
		t.Errorf("warnings %q, error %v, want %q", d.Warnings, err, want)
	}
}
