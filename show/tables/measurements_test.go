package tables

import (
	"bytes"
	"testing"

	"slackline/model/dataset"
)

// The table of measurements is a dataset as CSV, which is read back as the same one. The column of units is only there if
// some series has one.
func TestMeasurements(t *testing.T) {
	for _, tc := range []struct {
		data *dataset.Dataset
		want string
	}{
		{&dataset.Dataset{Parameters: []string{"p", "n"}, Series: []*dataset.Series{
			{CallPath: "main/a,b", Metric: "time", Unit: "s", Points: []dataset.Point{
				{At: []float64{2, 0.5}, Values: []float64{0.1, 1e-9}}, {At: []float64{4, 0.5}, Values: []float64{1e21}}}},
			{CallPath: "<root>", Metric: "bytes", Points: []dataset.Point{{At: []float64{2, 1}, Values: []float64{7}}}},
		}}, "callpath,metric,unit,p,n,repetition,value\n\"main/a,b\",time,s,2,0.5,0,0.1\n\"main/a,b\",time,s,2,0.5,1,1e-09\n" +
			"\"main/a,b\",time,s,4,0.5,0,1e+21\n<root>,bytes,,2,1,0,7\n"},
		{&dataset.Dataset{Parameters: []string{"p"}, Series: []*dataset.Series{
			{CallPath: "a", Metric: "m", Points: []dataset.Point{{At: []float64{2}, Values: []float64{3}}, {At: []float64{4}}}}}},
			"callpath,metric,p,repetition,value\na,m,2,0,3\n"},
		{&dataset.Dataset{Parameters: []string{"p"}}, "callpath,metric,p,repetition,value\n"},
	} {
		var out bytes.Buffer
		if err := Measurements(tc.data).WriteCSV(&out); err != nil {
			t.Fatal(err)
		}
		back, _, err := dataset.Read("d.csv", out.Bytes(), "")
		if len(tc.data.Series) > 0 && err != nil {
			t.Errorf("%v:\n%s", err, out.String())
		}
		if err == nil && len(back.Series) != len(tc.data.Series) {
			t.Errorf("%d series become %d", len(tc.data.Series), len(back.Series))
		}
		if out.String() != tc.want {
			t.Errorf("CSV\n%s\nwant\n%s", out.String(), tc.want)
		}
	}
}
