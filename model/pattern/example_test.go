package pattern_test

import (
	"fmt"

	"slackline/model/pattern"
	"slackline/model/schedule"
)

// A program is asked for one block of one rank at a time.
func ExampleNew() {
	p, err := pattern.New("halo2d", pattern.Params{Ranks: 16, Size: 4096, Periodic: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	var b schedule.Block
	p.Block(5, 0, &b)
	for _, op := range b.Ops {
		fmt.Println(op.Kind, op.Size, "bytes, rank", op.Peer)
	}
	// Output:
	// send 4096 bytes, rank 4
	// recv 4096 bytes, rank 4
	// send 4096 bytes, rank 6
	// recv 4096 bytes, rank 6
	// send 4096 bytes, rank 1
	// recv 4096 bytes, rank 1
	// send 4096 bytes, rank 9
	// recv 4096 bytes, rank 9
}

func ExampleInfo_Describe() {
	for _, info := range pattern.List() {
		if info.Name == "sweep" {
			fmt.Print(info.Describe())
		}
	}
	// Output:
	// sweep (exchange): wavefront over a 2-D grid from one or more corners, blocking
	//
	// Each iteration is one wave from each corner: receive from the two neighbors
	// upstream, compute, send to the two downstream. The compute time of an
	// iteration is shared by its waves. Waves of successive iterations follow each
	// other as a pipeline.
	//
	// Parameters:
	//   ranks       number of ranks
	//   size        bytes of a message, of a vector, or of what each rank contributes; default 1KiB
	//   iterations  how often the pattern is repeated; default 1
	//   grid        process grid, e.g. 16x8; else near-square or near-cubic
	//   compute     mean CPU work of a rank per iteration, whole ns; default 0
	//   jitter      relative spread of the work, 0 to 1; default 0
	//   seed        seed of all random choices; default 0
	//   corners     from how many corners the sweeps start: 1, 2, 4 or 8; default 1
	//
	// Example:
	//   slackline simulate sweep --ranks 256 --corners 4 --compute 50us --iterations 10 --machine chic
}
