package machine_test

import (
	"fmt"

	"slackline/model/machine"
)

// A machine file with two link classes: ranks of one node are close, all others are far.
func ExampleRead() {
	m, err := machine.Read("mine.yaml", []byte(`
L: 1.5us
o: 700ns
g: 900ns
G: 0.1ns
ranks_per_node: 4
classes:
  node: {L: 300ns}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	layout, err := m.Layout(8)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("ranks 0 and 3:", layout.Class(0, 3), layout.Params(0, 3).Latency)
	fmt.Println("ranks 0 and 4:", layout.Class(0, 4), layout.Params(0, 4).Latency)
	// Output:
	// ranks 0 and 3: node 300ns
	// ranks 0 and 4: far 1.5us
}

func ExampleNamed() {
	m, err := machine.Named("chic")
	if err != nil {
		fmt.Println(err)
		return
	}
	far := m.Classes[machine.Far]
	fmt.Println(m.Name, "L =", far.Latency, "g =", far.Gap)
	// Output: chic L = 5.33us g = 1.56us
}
