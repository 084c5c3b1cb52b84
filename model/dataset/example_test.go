package dataset_test

import (
	"fmt"
	"os"

	"slackline/model/dataset"
)

// The format is detected from the content; several values at one point are repetitions.
func ExampleRead() {
	d, format, err := dataset.Read("runs.csv", []byte(`p,callpath,metric,value
4,main->solve,time,1.5
4,main->solve,time,1.6
8,main->solve,time,0.9
`), "")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(format.Name, d.Parameters, d.Functions())
	for _, point := range d.Find("solve", "time").Points {
		fmt.Println(point.At, point.Values)
	}
	// Output:
	// csv [p] [solve]
	// [4] [1.5 1.6]
	// [8] [0.9]
}

// Measurements of a program, written for Extra-P.
func ExampleDataset_WriteExtraPText() {
	d := dataset.New("p")
	for _, p := range []float64{2, 4, 8} {
		d.Get("main->solve", "time").Add([]float64{p}, 12/p)
	}
	if err := d.WriteExtraPText(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// PARAMETER p
	// POINTS (2) (4) (8)
	// METRIC time
	// REGION main->solve
	// DATA 6
	// DATA 3
	// DATA 1.5
}
