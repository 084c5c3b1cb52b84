package tolerance

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"slackline/analyze/tolerance"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/internal/phrase"
	"slackline/internal/source"
	"slackline/internal/table"
	"slackline/model/machine"
	"slackline/model/unit"
)

// placeOptions are the flags that ask for a placement of the ranks.
type placeOptions struct {
	cores int
	inter interLink
	file  string
	form  string
	hosts string
	names []string // of the hosts
}

// The forms of a rank file.
const (
	rankFileOpenMPI = "openmpi"
	rankFileMPICH   = "mpich"
	rankFileSlurm   = "slurm"
)

func (o *placeOptions) addFlags(fs *pflag.FlagSet) {
	flags.AddNumber(fs, &o.cores, "placement", 0, flags.AtLeast(1),
		"look for a placement of the ranks on nodes with this `number` of cores that makes T smaller")
	fs.Var(&o.inter, "inter", "latency and time per byte between nodes, `L,G`, e.g. 3us,0.05ns; -L and -G are then those inside a node "+
		"(default: classes node and far of the machine)")
	fs.StringVar(&o.file, "rank-file", "", "write the placement to this `file`, for the MPI library of --rank-file-for")
	flags.AddChoice(fs, &o.form, "rank-file-for", "who reads the rank file", rankFileOpenMPI, rankFileOpenMPI, rankFileMPICH,
		rankFileSlurm)
	fs.StringVar(&o.hosts, "hosts", "", "names of the nodes in the rank file, a `LIST|FILE` with one name per line, e.g. n01,n02")
}

func (o *placeOptions) check(r *run) error {
	if !r.given("placement") {
		for _, name := range []string{"inter", "rank-file", "rank-file-for", "hosts"} {
			if r.given(name) {
				return exit.Usagef("--%s needs --placement", name)
			}
		}
		return nil
	}
	if (r.given("rank-file-for") || o.hosts != "") && o.file == "" {
		return exit.Usagef("--rank-file-for and --hosts need --rank-file")
	}
	if !r.app.IsFirst() {
		return nil // process 0 writes the file for which they are needed
	}
	var err error
	o.names, err = readHosts(o.hosts)
	return err
}

// readHosts reads the names of nodes: a list, or a file with one name per line.
func readHosts(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	if info, err := os.Stat(text); err != nil || info.IsDir() {
		return checkHosts("--hosts", strings.Split(text, ","))
	}
	data, err := source.Disk(text, source.All)
	if err != nil {
		return nil, err
	}
	var names []string
	for n, line := range strings.Split(string(data), "\n") {
		words := strings.Fields(line)
		if len(words) > 1 {
			return nil, fmt.Errorf("%s:%d: %q is more than the name of a node; write one name per line", text, n+1, strings.Join(words, " "))
		}
		names = append(names, words...)
	}
	return checkHosts(text, names)
}

var hostName = regexp.MustCompile(`^[\w.-]+$`)

func checkHosts(from string, names []string) ([]string, error) {
	if len(names) == 0 {
		return nil, fmt.Errorf("%s names no nodes; write one name per line", from)
	}
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("%s: node %s is there twice; name each node once, however many slots it has", from, name)
		}
		if !hostName.MatchString(name) {
			return nil, fmt.Errorf("%s: %q is not the name of a node", from, name)
		}
	}
	return names, nil
}

// placeOnMachine makes the machine of a placement one with two levels.
func (r *run) placeOnMachine() error {
	if !r.given("placement") {
		return nil
	}
	m := *r.on
	if r.place.inter.given {
		far := &m.Classes[machine.Far]
		*far = m.Classes[machine.Node]
		far.Latency, far.PerByte = r.place.inter.latency, machine.One(r.place.inter.perByte)
	} else if m.Classes[machine.Node].Equal(&m.Classes[machine.Far]) {
		return exit.Usagef("--placement needs two kinds of links: give --inter L,G, or a machine with classes node and far")
	}
	if m.NodesPerSwitch > 0 {
		r.app.Warn("nodes_per_switch of %s has no influence on --placement: it knows links inside nodes and between them", r.on.Name)
		m.NodesPerSwitch = 0
	}
	m.RanksPerNode, m.Placement = r.place.cores, machine.Placement{}
	r.on = &m
	return nil
}

// findPlacement looks for a placement, and puts the ranks there.
func (r *run) findPlacement(s *tolerance.Schedule) (*tolerance.Placement, error) {
	line := r.app.StartProgress()
	p, err := s.Place(r.context, r.on, r.place.cores, func(swaps int, best unit.Duration) {
		if line != nil {
			line.Report(func() string {
				return fmt.Sprintf("placement: %s tried, T = %s", phrase.Plural(swaps, "swap"), best.Short())
			})
		}
	})
	line.Clear()
	if err != nil {
		return nil, err
	}
	placed := *r.on
	placed.Placement = machine.Placement{Nodes: p.Nodes}
	r.on = &placed
	return p, nil
}

// keepPlacement writes the rank file, if there is to be one.
func (r *run) keepPlacement(p *tolerance.Placement) error {
	if p == nil || r.place.file == "" {
		return nil
	}
	nodes := 0
	for _, node := range p.Nodes {
		nodes = max(nodes, int(node)+1)
	}
	if n := len(r.place.names); n > 0 && n < nodes {
		return exit.Usagef("--hosts names %s, but the ranks need %d", phrase.Plural(n, "node"), nodes)
	}
	err := r.app.WriteOut(r.place.file, r.files, func(w io.Writer) error {
		return writeRankFile(w, p.Nodes, r.place.form, r.place.names)
	})
	if err == nil {
		r.app.Note("wrote %s; start the program with %s", r.place.file, rankFileUse(r.place.form, phrase.Command(r.place.file), len(p.Nodes)))
	}
	return err
}

// rankFileUse is how a rank file is used; its name is quoted for the shell.
func rankFileUse(form, file string, ranks int) string {
	switch form {
	case rankFileMPICH:
		return fmt.Sprintf("mpiexec -f %s -n %d", file, ranks)
	case rankFileSlurm:
		const note = " (--mpi=pmi2 if it was built with MPICH or Intel MPI)" // without --mpi, each process may be rank 0 of 1
		return fmt.Sprintf("SLURM_HOSTFILE=%s srun --mpi=pmix --distribution=arbitrary -n %d%s", file, ranks, note)
	}
	return fmt.Sprintf("mpirun --rankfile %s -n %d", file, ranks)
}

// writeRankFile writes the nodes of the ranks in the form that a launcher takes. Without names of
// hosts, nodes are called node0, node1, ...; Open MPI counts those of the job itself.
func writeRankFile(w io.Writer, nodes []int32, form string, hosts []string) error {
	out := bufio.NewWriter(w)
	slots := map[int32]int{}
	for rank, node := range nodes {
		name := "node" + strconv.Itoa(int(node))
		switch {
		case hosts != nil:
			name = hosts[node]
		case form == rankFileOpenMPI:
			name = "+n" + strconv.Itoa(int(node))
		}
		if form == rankFileOpenMPI {
			fmt.Fprintf(out, "rank %d=%s slot=%d\n", rank, name, slots[node])
			slots[node]++
		} else {
			fmt.Fprintln(out, name) // one line per rank
		}
	}
	return out.Flush()
}

// interLink is a flag with the latency and the time per byte between nodes.
type interLink struct {
	latency unit.Duration
	perByte unit.PerByte
	given   bool
}

// Set implements pflag.Value.
func (l *interLink) Set(s string) error {
	first, second, ok := strings.Cut(s, ",")
	if !ok {
		return fmt.Errorf("expected a pair L,G, got %q; give L,G, e.g. 3us,0.05ns", s)
	}
	latency, err := unit.ParseDuration(first)
	if err != nil {
		return err
	}
	perByte, err := unit.ParsePerByte(second)
	if err != nil {
		return err
	}
	*l = interLink{latency, perByte, true}
	return nil
}

func (l *interLink) String() string {
	if !l.given {
		return ""
	}
	return l.latency.String() + "," + l.perByte.String()
}

// Type implements pflag.Value.
func (l *interLink) Type() string { return "L,G" }

func (t *report) placeTable() *table.Table {
	p := t.placement
	if p == nil {
		return nil
	}
	s := table.Of("placement", ">T", "remark")
	s.Add("ranks in blocks", p.StartT.Short(), fmt.Sprintf("%s ns, %s on a node", p.StartT.NS(), phrase.Plural(t.run.place.cores, "rank")))
	s.Add("as found", p.T.Short(), fmt.Sprintf("%s ns, %s less; after %s, of %s tried: %s", p.T.NS(),
		phrase.Percent(p.StartT-p.T, p.StartT), phrase.Plural(p.Best, "swap"), phrase.Grouped(len(p.Swaps)), p.Stop))
	return s
}

// listOfNodes prints the nodes of the ranks, runs of equal ones as one.
func listOfNodes(nodes []int32) string {
	var parts []string
	for i := 0; i < len(nodes); {
		j := i
		for j < len(nodes) && nodes[j] == nodes[i] {
			j++
		}
		text := strconv.Itoa(int(nodes[i]))
		if j-i > 1 {
			text += fmt.Sprintf(" (x%d)", j-i)
		}
		parts = append(parts, text)
		i = j
	}
	const most = 200
	if len(parts) > most {
		parts = append(parts[:most], "... (--format json has all)")
	}
	return strings.Join(parts, ", ")
}
