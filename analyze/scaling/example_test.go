package scaling_test

import (
	"fmt"

	"slackline/analyze/scaling"
	"slackline/model/dataset"
)

// logarithmic is a dataset of a function that takes 2 ms for each doubling of the number of processes.
func logarithmic() *dataset.Dataset {
	d := dataset.New("p")
	for i := 3; i <= 10; i++ {
		d.Get("main->reduce", "time").Add([]float64{float64(int(1) << i)}, 0.002*float64(i))
	}
	return d
}

// Every series gets a model; its lead can be extrapolated.
func ExampleModels() {
	models, err := scaling.Models(logarithmic(), scaling.Options{}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range models {
		fmt.Println(m.Series.CallPath, m.Fit.Landau(), m.Fit.Model.String())
		fmt.Printf("at 65536 processes: %.3f s\n", m.Fit.Predict(65536).Value)
	}
	// Output:
	// main->reduce O(log p) 0.002 * log2(p)
	// at 65536 processes: 0.032 s
}

// Expectations are judged by the weight of the evidence.
func ExampleJudge() {
	e, err := scaling.ParseExpectations("scaling.yaml", []byte(`
expectations:
  - {function: reduce, expect: O(log p)}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := scaling.Judge(e, logarithmic(), scaling.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Verdict, report.Checks[0].Rank)
	// Output:
	// pass total
}
