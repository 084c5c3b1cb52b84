package waits

import (
	"strings"
	"testing"
	"testing/fstest"

	"slackline/model/trace"
	"slackline/model/unit"
)

// TestProbes: who looks for a message waits for its sender, whatever it calls for that; the receive does not wait again.
func TestProbes(t *testing.T) {
	for _, tc := range []struct {
		name, receiver string
		want           unit.Duration
		path           string
	}{
		{"probe", "10..52 MPI_Probe\n52..55 MPI_Recv: recv from 0 size 8", 40, "main/MPI_Probe"},
		{"mprobe, with work before the receive", "10..52 MPI_Mprobe\n52..53 work\n53..55 MPI_Mrecv: recv from 0 size 8", 40, "main/MPI_Mprobe"},
		{"loop of iprobe", "10..52 MPI_Iprobe: polls 1000\n52..55 MPI_Recv: recv from 0 size 8", 40, "main/MPI_Iprobe"},
		{"a single iprobe does not wait", "10..52 MPI_Iprobe\n52..55 MPI_Recv: recv from 0 size 8", 0, ""},
		{"something else in between", "10..40 MPI_Probe\n40..41 MPI_Test\n41..55 MPI_Recv: recv from 0 size 8", 9, "main/MPI_Recv"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text := "slackline trace 1\nunit us\nrank 0\n0 main {\n0..50 late\n50..51 MPI_Send: send to 1 size 8\n} 60\nrank 1\n0 main {\n" +
				"0..10 early\n" + tc.receiver + "\n} 60\n"
			fsys := fstest.MapFS{"t.trace": {Data: []byte(text)}}
			tr, err := trace.Open(fsys, "t.trace", trace.Options{})
			if err != nil {
				t.Fatal(err)
			}
			r := analyze(t, timelineOf(t, tr), 1)
			var got []string
			sum := unit.Duration(0)
			for _, w := range r.Waits {
				got, sum = append(got, w.Metric.String()+" "+w.CallPath), sum+w.Amount.Duration()
			}
			want := ""
			if tc.want > 0 {
				want = "late_sender " + tc.path
			}
			if sum != tc.want*unit.Microsecond || strings.Join(got, ", ") != want {
				t.Errorf("waits %v of %v, want %q of %v us", got, sum, want, int64(tc.want))
			}
		})
	}
}
