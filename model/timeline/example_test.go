package timeline_test

import (
	"fmt"

	"slackline/model/timeline"
	"slackline/model/unit"
)

// Two ranks and one message: the builder matches the send with its receive.
func ExampleBuilder() {
	us := unit.Microsecond
	b := timeline.NewBuilder(2)
	world := b.Comm(timeline.Comm{Name: "world", Members: []int32{0, 1}})
	send := b.Region(timeline.RegionNamed("MPI_Send"))
	recv := b.Region(timeline.RegionNamed("MPI_Recv"))

	sender := b.Location(0, 0, "thread 0", "host")
	sender.Enter(30*us, send)
	sender.Send(30*us, 1, world, 0, 8)
	sender.Leave(32 * us)
	receiver := b.Location(1, 0, "thread 0", "host")
	receiver.Enter(10*us, recv)
	receiver.Recv(33*us, 0, world, 0, 8)
	receiver.Leave(33 * us)

	tl := b.Finish(1)
	for _, m := range tl.Messages {
		calls := tl.Locations[m.To].Calls
		fmt.Println(tl.PathName(calls.Path[m.Recv]), "from", calls.Enter[m.Recv], "to", calls.Leave[m.Recv])
	}
	// Output: MPI_Recv from 10us to 33us
}
