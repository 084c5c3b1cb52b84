package dataset_test

import (
	"strings"
	"testing"

	"slackline/model/dataset"
)

func TestReadCSV(t *testing.T) {
	checkReading(t, "csv", []reading{
		{name: "columns in any order", input: "value,Function,p,metric\n1,f,4,time\n", want: "p\nf time [4]=[1]"},
		{name: "units", input: "p,unit,value\n4,s,1\n8,s,2\n", want: "p\n<root> <default> [s] [4]=[1] [8]=[2]"},
		{name: "units that differ", input: "p,unit,value\n4,s,1\n8,ms,2\n",
			want: "x:3: <root> has values in s and in ms; give all of them in one unit", bad: true},
		{name: "a missing value has no influence on the unit",
			input: "p,unit,value\n4,s,1\n8,ms,nan\n", want: "p\n<root> <default> [s] [4]=[1]", warnings: 1},
		{name: "comments", input: "p,value\n# machine A\n4,1\n", want: "p\n<root> <default> [4]=[1]"},
		{name: "two paths", input: "path,region,p,value\na,b,4,1\n", want: "x:1:", bad: true},
		{name: "one parameter twice", input: "p,p,value\n4,4,1\n", want: "x:1:", bad: true},
		{name: "no value", input: "p,q\n4,1\n", want: "x:1:", bad: true},
		{name: "a bad parameter", input: "p,value\n4,1\nmany,2\n", want: "x:3:", bad: true},
		{name: "an infinite value", input: "p,value\n4,inf\n", want: "x:2:", bad: true},
	})
}

// The column unit is written only if a series has one; names are quoted.
func TestWriteCSV(t *testing.T) {
	d := dataset.New("p")
	d.Get("a,b", "time").Add([]float64{4}, 1, 0.1)
	for _, tc := range []struct{ unit, want string }{
		{"", "callpath,metric,p,repetition,value\n\"a,b\",time,4,0,1\n\"a,b\",time,4,1,0.1\n"},
		{"s", "callpath,metric,unit,p,repetition,value\n\"a,b\",time,s,4,0,1\n\"a,b\",time,s,4,1,0.1\n"},
	} {
		d.Series[0].Unit = tc.unit
		var b strings.Builder
		if err := d.WriteCSV(&b); err != nil || b.String() != tc.want {
			t.Errorf("CSV = %s (%v), want %s", b.String(), err, tc.want)
		}
	}
}
