package schedule

import (
	"bytes"
	"strings"
	"testing"
)

func TestWriteDOTText(t *testing.T) {
	g := mustReadGOAL(t, `num_ranks 3
rank 0 {
a: send 8b to 1 tag 3
b: calc 5 cpu 1
b irequires a
send 1b to 2
}
rank 1 {
recv 8b from 0 tag 3 nic 2
}
rank 2 {
recv 8b from -1 tag -1
}
`)
	g.ops[1].Size = 5250
	g.ops[0].Context, g.ops[3].Context = CollectiveContext, CollectiveContext
	var out bytes.Buffer
	if _, err := writeDOT(&out, g); err != nil {
		t.Fatal(err)
	}
	want := `digraph slackline {
  graph [slackline=1, ranks=3];
  node [shape=box];
  subgraph cluster_0 {
    graph [label="rank 0"];
    r0_0 [label="a: send 8b to 1 tag 3", name="a", kind=send, to=1, bytes=8, tag=3, context=1];
    r0_1 [label="b: calc 5.250 cpu 1", name="b", kind=calc, ps=5250, cpu=1];
    r0_2 [label="send 1b to 2", kind=send, to=2, bytes=1];
    r0_0 -> r0_1 [class=irequires, style=dashed];
  }
  subgraph cluster_1 {
    graph [label="rank 1"];
    r1_0 [label="recv 8b from 0 tag 3 nic 2", kind=recv, from=0, bytes=8, tag=3, nic=2, context=1];
  }
  subgraph cluster_2 {
    graph [label="rank 2"];
    r2_0 [label="recv 8b from -1 tag -1", kind=recv, from=any, bytes=8, tag=any];
  }
  r0_0 -> r1_0 [class=message, style=bold, constraint=false];
}
`
	if got := out.String(); got != want {
		t.Errorf("WriteDOT = %s, want %s", got, want)
	}
	if _, err := Read("picture.dot", out.Bytes()); err == nil ||
		!strings.Contains(err.Error(), "a Graphviz picture, which slackline only writes") {
		t.Errorf("Read of a picture = %v, want an error that says what it is", err)
	}
}
