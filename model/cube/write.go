package cube

import (
	"archive/tar"
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"
)

// Report is a profile that is written: values of metrics by call node and location.
type Report struct {
	Attributes [][2]string // names and values
	Regions    []Region
	Nodes      []Node // parents before their children
	Processes  []Process
	Grid       *Grid // process grid; nil: none
	Metrics    []Values
}

// Region is a function.
type Region struct {
	Name, File     string
	Line           int    // 0: not known
	Paradigm, Role string // as Score-P calls them, e.g. mpi, point2point
}

// Node is a place in the call tree.
type Node struct {
	Parent int // index of the node that calls it; -1: none
	Region int
}

// Process is a rank with its threads, which are the locations, in this order.
type Process struct {
	Rank    int
	Host    string
	Threads []string
}

// Grid is a process grid.
type Grid struct {
	Dims     []int
	Periodic []bool
	Coords   [][]int // by process; nil: not in the grid
}

// Values are the values of a metric: exclusive ones, of a node without those that it calls.
type Values struct {
	Name, Title, Unit, About string
	Whole                    bool              // they are whole numbers
	Rows                     map[int][]float64 // by node: one value for each location; missing rows are 0
}

// locations is the number of all threads.
func (r *Report) locations() int {
	n := 0
	for _, p := range r.Processes {
		n += len(p.Threads)
	}
	return n
}

// Write writes a report as a Cube 4 file.
func Write(w io.Writer, r *Report) error {
	if err := r.check(); err != nil {
		return err
	}
	t := tar.NewWriter(w)
	add := func(name string, data []byte) error {
		header := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(data)), Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}
		if err := t.WriteHeader(header); err != nil {
			return err
		}
		_, err := t.Write(data)
		return err
	}
	order := r.preorder()
	if err := add(anchorName, r.anchor()); err != nil {
		return err
	}
	for i := range r.Metrics {
		index, data := r.Metrics[i].encode(order, r.locations())
		if err := add(strconv.Itoa(i)+".index", index); err != nil {
			return err
		}
		if err := add(strconv.Itoa(i)+".data", data); err != nil {
			return err
		}
	}
	return t.Close()
}

// check finds mistakes of the caller.
func (r *Report) check() error {
	if len(r.Processes) == 0 || r.locations() == 0 {
		return fmt.Errorf("cube: a report needs at least one location")
	}
	for i, n := range r.Nodes {
		if n.Parent >= i || n.Parent < -1 || n.Region < 0 || n.Region >= len(r.Regions) {
			return fmt.Errorf("cube: node %d has the parent %d and the region %d", i, n.Parent, n.Region)
		}
	}
	for _, m := range r.Metrics {
		for node, row := range m.Rows {
			if node < 0 || node >= len(r.Nodes) || len(row) != r.locations() {
				return fmt.Errorf("cube: metric %s has %d values at node %d", m.Name, len(row), node)
			}
		}
	}
	return nil
}

// preorder lists the nodes depth first: the order of exclusive values.
func (r *Report) preorder() []int {
	children := r.children()
	order := make([]int, 0, len(r.Nodes))
	stack := reversed(children[len(r.Nodes)])
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = append(stack[:len(stack)-1], reversed(children[n])...)
		order = append(order, n)
	}
	return order
}

// children lists the children of every node; the roots are those of a node after the last one.
func (r *Report) children() [][]int {
	children := make([][]int, len(r.Nodes)+1)
	for i, n := range r.Nodes {
		parent := n.Parent
		if parent < 0 {
			parent = len(r.Nodes)
		}
		children[parent] = append(children[parent], i)
	}
	return children
}

func reversed(list []int) []int {
	out := make([]int, 0, len(list))
	for i := len(list) - 1; i >= 0; i-- {
		out = append(out, list[i])
	}
	return out
}

// encode returns the index and the values of a metric.
func (m *Values) encode(order []int, locations int) (index, data []byte) {
	little := binary.LittleEndian
	index = append(index, indexMagic...)
	index = little.AppendUint32(index, 1) // byte order
	index = little.AppendUint16(index, 0) // version
	index = append(index, sparse)
	index = little.AppendUint32(index, uint32(len(m.Rows)))
	data = append(data, dataMagic...)
	for number, node := range order {
		row, ok := m.Rows[node]
		if !ok {
			continue
		}
		index = little.AppendUint32(index, uint32(number))
		for _, v := range row[:locations] {
			if m.Whole {
				data = little.AppendUint64(data, uint64(v))
			} else {
				data = little.AppendUint64(data, math.Float64bits(v))
			}
		}
	}
	return index, data
}

// anchor returns the description. Numbers of nodes are those of the caller.
func (r *Report) anchor() []byte {
	var b bytes.Buffer
	b.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<cube version=\"4.4\">\n")
	for _, a := range r.Attributes {
		fmt.Fprintf(&b, "<attr key=\"%s\" value=\"%s\"/>\n", escaped(a[0]), escaped(a[1]))
	}
	b.WriteString("<doc></doc>\n<metrics>\n")
	for i, m := range r.Metrics {
		kind := "DOUBLE"
		if m.Whole {
			kind = "UINT64"
		}
		fmt.Fprintf(&b, "<metric id=\"%d\" type=\"EXCLUSIVE\"><disp_name>%s</disp_name><uniq_name>%s</uniq_name>"+
			"<dtype>%s</dtype><uom>%s</uom><val></val><url></url><descr>%s</descr></metric>\n",
			i, escaped(m.Title), escaped(m.Name), kind, escaped(m.Unit), escaped(m.About))
	}
	b.WriteString("</metrics>\n<program>\n")
	for i, g := range r.Regions {
		line := cmp.Or(g.Line, -1)
		fmt.Fprintf(&b, "<region id=\"%d\" mod=\"%s\" begin=\"%d\" "+
			"end=\"%d\"><name>%s</name><mangled_name>%s</mangled_name><paradigm>%s</paradigm><role>%s</role><url></url><descr></descr></region>\n",
			i, escaped(g.File), line, line, escaped(g.Name), escaped(g.Name), escaped(g.Paradigm), escaped(g.Role))
	}
	r.writeNodes(&b)
	b.WriteString("</program>\n")
	r.writeSystem(&b)
	b.WriteString("</cube>\n")
	return b.Bytes()
}

// writeNodes writes the call tree, without recursion: it may be deep.
func (r *Report) writeNodes(b *bytes.Buffer) {
	children := r.children()
	const end = -1
	stack := reversed(children[len(r.Nodes)])
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if n == end {
			b.WriteString("</cnode>\n")
			continue
		}
		fmt.Fprintf(b, "<cnode id=\"%d\" calleeId=\"%d\">", n, r.Nodes[n].Region)
		stack = append(append(stack, end), reversed(children[n])...)
	}
}

// writeSystem writes the hosts with their processes and threads, in the order of the processes, and the grid.
func (r *Report) writeSystem(b *bytes.Buffer) {
	b.WriteString("<system>\n<systemtreenode Id=\"0\"><name>machine</name><class>machine</class>\n")
	first := make([]int, len(r.Processes)) // location of each process
	location, node := 0, 0
	for i, p := range r.Processes {
		if i == 0 || p.Host != r.Processes[i-1].Host {
			if i > 0 {
				b.WriteString("</systemtreenode>\n")
			}
			node++
			fmt.Fprintf(b, "<systemtreenode Id=\"%d\"><name>%s</name><class>node</class>\n", node, escaped(p.Host))
		}
		first[i] = location
		fmt.Fprintf(b, "<locationgroup Id=\"%d\"><name>MPI Rank %d</name><rank>%d</rank><type>process</type>\n", i, p.Rank, p.Rank)
		for t, name := range p.Threads {
			fmt.Fprintf(b, "<location Id=\"%d\"><name>%s</name><rank>%d</rank><type>thread</type></location>\n", location, escaped(name), t)
			location++
		}
		b.WriteString("</locationgroup>\n")
	}
	b.WriteString("</systemtreenode>\n</systemtreenode>\n")
	if g := r.Grid; g != nil {
		fmt.Fprintf(b, "<topologies>\n<cart name=\"process grid\" ndims=\"%d\">\n", len(g.Dims))
		for i, size := range g.Dims {
			fmt.Fprintf(b, "<dim size=\"%d\" periodic=\"%v\"/>\n", size, i < len(g.Periodic) && g.Periodic[i])
		}
		for i, at := range g.Coords {
			if at == nil || i >= len(first) {
				continue
			}
			fmt.Fprintf(b, "<coord locId=\"%d\">", first[i])
			for k, v := range at {
				if k > 0 {
					b.WriteByte(' ')
				}
				b.WriteString(strconv.Itoa(v))
			}
			b.WriteString("</coord>\n")
		}
		b.WriteString("</cart>\n</topologies>\n")
	}
	b.WriteString("</system>\n")
}

// escaped returns a text as XML has it.
func escaped(s string) string {
	var b bytes.Buffer
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		return "" // a buffer takes everything
	}
	return b.String()
}
