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
	if _, err := WriteDOT(&out, g); err != nil {
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
	again, err := Read("again.dot", out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if describe(again) != describe(g) || describeNames(again) != describeNames(g) {
		t.Errorf("the graph comes back as %s", describe(again))
	}
	if line := again.Line(0, 1); line != 7 {
		t.Errorf("line = %d, want 7", line)
	}
}

// Layout and other attributes may have been added by Graphviz.
func TestReadDOTLaidOut(t *testing.T) {
	_, err := Read("laid-out.dot", []byte(`/* laid out */
digraph "slackline" {
	graph [bb="0,0,70,36",
		ranks=1,
		slackline=1
	];
	node [label="\N", shape=box];
	r0_0	[height=0.5, kind="calc", pos="27,18", ps=5, width=.75 ];
	r0_1	[kind=calc;ps=6];
	rankdir=LR
	r0_0 -> r0_1	[class=requires][color=red];
}`))
	if err == nil || !strings.Contains(err.Error(), "laid-out.dot:7: a string with escapes") {
		t.Fatalf("Read = %v, want an error about escapes", err)
	}
	g, err := Read("laid-out.dot", []byte(`/* laid out */
digraph "slackline" {
	graph [bb="0,0,70,36",
		ranks=1,
		slackline=1
	];
	node [shape=box];
	r0_0	[height=0.5, kind="calc", pos="27,18", ps=5, width="0.75" ];
	r0_1	[kind=calc;ps=6];
	rankdir=LR
	r0_0 -> r0_1	[class=requires][color=red];
}`))
	if err != nil {
		t.Fatal(err)
	}
	if g.NumOps() != 2 || g.NumDependencies() != 1 || g.RankOps(0)[1].Size != 6 {
		t.Errorf("graph = %s", describe(g))
	}
}

func TestReadDOTErrors(t *testing.T) {
	const begin = "digraph g {\ngraph [slackline=1, ranks=2];\n"
	const calc = "r0_0 [kind=calc, ps=1];\n"
	for _, tc := range []struct{ text, want string }{
		{"graph g {}", "f:1: digraph must stand here"},
		{"strict digraph {}", "f:1: digraph must stand here"},
		{"digraph g {", "f:1: the file ends where"},
		{"digraph g {}", "f:1: the graph has no attribute ranks; only DOT files that slackline has written"},
		{"digraph g {}}", `f:1: the end of the file must stand here, but here is "}"`},
		{"digraph g { a -> b }", "f:1: the edge a -> b has no class"},
		{"digraph g { a }", `f:1: the node "a" comes before the attribute ranks`},
		{"digraph g { graph [ranks=2] }", `f:1: the graph has the version "" instead of 1`},
		{"digraph g { graph [slackline=2, ranks=2] }", `f:1: the graph has the version "2" instead of 1`},
		{"digraph g { graph [slackline=1, ranks=0] }", "f:1: ranks must be 1 or more"},
		{"digraph g { graph [slackline=1, ranks=999999999] }", "f:1: ranks=999999999 is no number in the range"},
		{"digraph g { graph [slackline", `f:1: the file ends where "=" must stand`},
		{"digraph { -> }", `f:1: a node, an edge or } must stand here, but here is "->"`},
		{"digraph { a = [", `f:1: a value must stand here, but here is "["`},
		{"digraph { a = ", "f:1: the file ends where a value must stand"},
		{"digraph { a -> ", "f:1: the file ends where a node must stand"},
		{"digraph { a [b=[", `f:1: a value must stand here, but here is "["`},
		{"digraph { a [b=c, =", `f:1: an attribute must stand here, but here is "="`},
		{"digraph { subgraph c [", `f:1: "{" must stand here, but here is "["`},
		{begin + "rx_0 [kind=calc]", `f:3: the node "rx_0" is not named by rank and index`},
		{begin + "a [kind=calc]", `f:3: the node "a" is not named by rank and index`},
		{begin + "r0_0 [\n", "f:4: the file ends where an attribute must stand"},
		{begin + "r0_0 [kind=\"calc", "f:3: the string is not closed"},
		{begin + "r0_0 /* [kind=calc", "f:3: the comment"},
		{begin + "r0_0 @", `f:3: here is "@"`},
		{begin + "r0_0;", "f:3: node r0_0 has no kind"},
		{begin + "r0_0 [kind=calc\n];", "f:3: ps= is no number"},
		{begin + "r2_0 [kind=calc, ps=1];", "f:3: node r2_0: the graph has 2 ranks (0..1)"},
		{begin + "r0_1 [kind=calc, ps=1];", `f:3: the node "r0_1" is not in the order`},
		{begin + calc + calc, `f:4: the node "r0_0" is not in the order`},
		{begin + "r1_0 [kind=calc, ps=1];" + calc, "f:3: rank 0 stands behind rank 1 in one line; let it begin a new line"},
		{begin + calc + "r1_0 [kind=calc, ps=1];\nr0_1 [kind=calc, ps=1];", "f:5: second block for rank 0 (the first is in line 3)"},
		{begin + calc + "r1_0 [kind=calc, ps=1];\nr0_0 -> r0_0 [class=requires]", "f:5: the edge r0_0 -> r0_0 does not follow the nodes of its rank"},
		{begin + "r0_0 [kind=calc, ps=9223372036854775808];", "f:3: ps=9223372036854775808 is no number in the range"},
		{begin + "r0_0 [kind=send, bytes=1, to=2];", "f:3: to=2 is no number in the range 0 to 1"},
		{begin + "r0_0 [kind=send, bytes=1, to=any];", "f:3: to=any is no number"},
		{begin + "r0_0 [kind=send, bytes=1, to=1, tag=any];", "f:3: tag=any is no number"},
		{begin + "r0_0 [kind=calc, ps=1, cpu=255];", "f:3: cpu=255 is no number in the range 0 to 254"},
		{begin + "r0_0 [kind=calc, ps=1, name=send];", `f:3: node r0_0: "send" cannot be a label`},
		{begin + "r0_0 [kind=calc, ps=1, name=a]; r0_1 [kind=calc, ps=1, name=a];", "f:3: label a is defined twice in rank 0"},
		{begin + calc + "r0_0 -> r0_1 [class=requires]", "f:4: the edge r0_0 -> r0_1 does not follow the nodes of its rank"},
		{begin + calc + "r0_0 -> r1_0 [class=requires]", "f:4: the dependency r0_0 -> r1_0 joins different ranks"},
		{begin + calc + "r0_0 -> r0_0 [class=requires] }", "f:3: rank 0: operation #0 waits for itself"},
		{begin + calc + "r0_1 [kind=calc, ps=1, name=x]; r0_0 -> r0_1 -> r0_0", "f:4: the edge r0_0 -> r0_1 has no class"},
	} {
		_, err := ReadDOT("f", []byte(tc.text))
		if err == nil || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("ReadDOT(%q) = %v, want %s", tc.text, err, tc.want)
		}
	}
}
