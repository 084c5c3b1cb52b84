package measure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"slackline/cli/env"
	"slackline/cli/exit"
	"slackline/cli/flags"
	"slackline/model/machine"
	"slackline/model/unit"
	"slackline/observe/measure"
)

const (
	// networkServerVerb is the verb of the other end of a loopback; people have no use for it.
	networkServerVerb = "network-process"
	loopback          = "self"
	classifyRepeats   = 100
)

// measureNetworkOptions are the flags of measure network.
type measureNetworkOptions struct {
	job     jobFlags
	tcp     string
	listen  string
	largest flags.Quantity[unit.Size]
	options measure.NetworkOptions
	result  env.ResultFlags
	machine string
	name    string
}

func measureNetworkCommand(a *env.Env) *cobra.Command {
	o := &measureNetworkOptions{options: measure.DefaultNetwork()}
	c := &cobra.Command{
		Use:   "network",
		Short: "Measure the LogGPS parameters between ranks of an MPI, or between two hosts over TCP.",
		Long: "Measure the LogGPS parameters between ranks of an MPI, or between two hosts over TCP: L, o, g, G and S, with intervals, " +
			"and the sizes at which the protocol changes. A small program is compiled with the site's mpicc and started under its MPI. " +
			"With more than two ranks the pairs are sorted into those on one host and near and far ones on different hosts, and one pair " +
			"of each class is measured. The result can be written as a machine file that 'simulate' takes. A measurement that was " +
			"disturbed too much is refused; one that says too little about a parameter is inconclusive (exit code 4).",
		Example: `  slackline measure network
  slackline measure network --mpi mpich --machine-file mine.yaml --plot mine.svg
  slackline measure network --ranks 64 --launch 'srun --mpi=pmix --nodes 4' --machine-file cluster.yaml
  slackline measure network --listen :7777             # on one host
  slackline measure network --tcp node1:7777           # on the other
  slackline measure network --tcp self                 # both ends here`,
		Args: flags.ExactArgs(),
		RunE: func(c *cobra.Command, _ []string) error { return o.run(a, c) },
	}
	a.AddGroup(c, "MPI", func(fs *pflag.FlagSet) {
		o.job.add(fs, "more than two: classes of pairs, rank 0 with every other one")
	})
	a.AddGroup(c, "TCP", func(fs *pflag.FlagSet) {
		fs.StringVar(&o.tcp, "tcp", "", "measure TCP to the slackline that listens at this `address`, e.g. node1:7777, or self for "+
			"both ends on this host")
		fs.StringVar(&o.listen, "listen", "", "be the other end of a measurement: listen at this `address`, e.g. :7777, serve once and end")
	})
	a.AddGroup(c, "Measurement", func(fs *pflag.FlagSet) {
		fs.Var(&o.largest, "max-size", "largest message (default 256KiB)")
		flags.AddNumber(fs, &o.options.Repeat, "repeat", o.options.Repeat, flags.Between(5, 1e5),
			"`number` of times that each time is taken in a round")
		flags.AddNumber(fs, &o.options.Rounds, "rounds", o.options.Rounds, flags.Between(2, 1000),
			"`number` of rounds over all sizes, each with newly started ranks; their spread gives the intervals")
		flags.AddNumber(fs, &o.options.Messages, "messages", o.options.Messages, flags.Between(2, 1000), "`number` of messages in a burst")
	})
	a.AddGroup(c, "Output", func(fs *pflag.FlagSet) {
		o.result.AddFlags(fs, "form of the output; csv has every size")
		fs.StringVar(&o.machine, "machine-file", "", "write a machine `file` that 'simulate --machine' takes")
		fs.StringVar(&o.name, "name", "measured", "`name` of the machine in the machine file")
		o.result.AddPlot(fs, "draw round trips and gaps over the size of messages into `FILE.svg|png`")
	})
	return c
}

func measureNetworkServerCommand() *cobra.Command {
	return &cobra.Command{
		Use:    networkServerVerb,
		Short:  "The other end of 'measure network --tcp self'.",
		Hidden: true,
		Args:   flags.ExactArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			l, err := net.FileListener(os.NewFile(3, "listener"))
			if err != nil {
				return fmt.Errorf("'measure network --tcp %s' starts this: %w", loopback, err)
			}
			defer l.Close()
			return measure.ServeTCP(c.Context(), l)
		},
	}
}

// check refuses flags that do not go together.
func (o *measureNetworkOptions) check(c *cobra.Command) error {
	given := func(names ...string) string {
		for _, n := range names {
			if c.Flags().Changed(n) {
				return n
			}
		}
		return ""
	}
	if name := given("mpi", "launch", "ranks"); name != "" && (o.tcp != "" || o.listen != "") {
		return exit.Usagef("--%s belongs to a measurement over MPI, not over TCP", name)
	}
	if name := given("tcp", "max-size", "repeat", "rounds", "messages", "format", "out", "machine-file", "name", "plot"); name != "" &&
		o.listen != "" {
		return exit.Usagef("--%s belongs to the side that measures, not to the one that listens", name)
	}
	switch {
	case o.job.ranks < 2 || o.job.ranks > 1<<16:
		return exit.Usagef("--ranks: 2 to 65536 ranks can be measured, not %d", o.job.ranks)
	case o.largest.Given && (o.largest.Value < 64 || o.largest.Value > 1<<28):
		return exit.Usagef("--max-size: 64B to 256MiB, not %s", o.largest.Value)
	}
	return o.result.Check(nil, env.To("machine-file", o.machine))
}

func (o *measureNetworkOptions) run(a *env.Env, c *cobra.Command) error {
	if err := o.check(c); err != nil {
		return err
	}
	if o.listen != "" {
		return listenTCP(c.Context(), a, o.listen)
	}
	if o.largest.Given {
		o.options.Sizes = measure.Sizes(int(o.largest.Value))
	}
	r := &measuredNetwork{options: &o.options}
	over := r.overMPI
	if o.tcp != "" {
		over = r.overTCP
	}
	if err := over(c.Context(), a, o); err != nil {
		return inconclusiveIf(a, measure.ErrWide, interruptedOr(c.Context(), err))
	}
	a.Progress.Clear()
	return r.output(a, o)
}

// listenTCP is the other end of a measurement over TCP.
func listenTCP(ctx context.Context, a *env.Env, address string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	defer l.Close()
	a.WarnAll(measure.Surroundings(1))
	a.Note("listening at %s; now run 'slackline measure network --tcp HOST:PORT' on the other host", l.Addr())
	return measure.ServeTCP(ctx, l)
}

// measuredNetwork is a measurement with what its output needs.
type measuredNetwork struct {
	over    string // what the messages went over
	version string // what the MPI calls itself
	hosts   []string
	classes []measure.ClassNetwork
	options *measure.NetworkOptions
	begin   time.Time // of the pair that is measured
}

// progress reports how far a measurement is, and how long it will take if that is long.
func (r *measuredNetwork) progress(a *env.Env, what string) {
	line := a.StartProgress()
	reported := false
	r.options.Progress = func(done, total int) {
		elapsed, round := time.Since(r.begin), len(r.options.Sizes)
		line.Report(func() string {
			return fmt.Sprintf("%s: %d of %d sizes, %s left", what, done, total, roughly(expected(elapsed, done, total)-elapsed))
		})
		if reported || done < round && elapsed < firstEstimate {
			return
		}
		reported = true
		if all := expected(elapsed, done, total); all > longMeasurement {
			least := "about"
			if done < round { // the sizes to come are larger than those before
				least = "at least"
			}
			a.Note("%s: all %d rounds will take %s %s; fewer --rounds, a smaller --repeat or --max-size take less", what, r.options.Rounds, least,
				roughly(all))
		}
	}
}

const (
	longMeasurement = time.Minute
	firstEstimate   = 15 * time.Second // without the end of the first round
)

// expected is how long something takes of which a part is done.
func expected(elapsed time.Duration, done, total int) time.Duration {
	return time.Duration(float64(elapsed) / float64(max(done, 1)) * float64(total))
}

// roughly is a time to wait for, for people.
func roughly(d time.Duration) string {
	if d < 100*time.Second {
		return fmt.Sprintf("%.0f s", d.Seconds())
	}
	return fmt.Sprintf("%.0f min", math.Ceil(d.Minutes()))
}

// overMPI measures one pair of each class of pairs.
func (r *measuredNetwork) overMPI(ctx context.Context, a *env.Env, o *measureNetworkOptions) (err error) {
	j, err := o.job.start(ctx, a)
	if err != nil {
		return err
	}
	defer func() {
		if e := j.Close(); err == nil {
			err = e
		}
	}()
	r.over, r.version, r.hosts = j.Library.String(), j.Version, j.Hosts
	classes, err := measure.Classify(j, classifyRepeats)
	if err != nil {
		return err
	}
	for _, class := range classes {
		r.begin = time.Now()
		r.progress(a, fmt.Sprintf("ranks %d and %d (%s)", class.Usual[0], class.Usual[1], class.Name))
		link := j.Link(class.Usual[0], class.Usual[1])
		r.options.Renew = func() (measure.Link, error) { return link, j.Restart(ctx) }
		n, err := measure.MeasureNetwork(ctx, link, *r.options)
		if err != nil {
			return fmt.Errorf("ranks %d and %d: %w", class.Usual[0], class.Usual[1], err)
		}
		r.classes = append(r.classes, measure.ClassNetwork{Class: class, Network: n})
	}
	return nil
}

// overTCP measures the link to another slackline.
func (r *measuredNetwork) overTCP(ctx context.Context, a *env.Env, o *measureNetworkOptions) (err error) {
	address, class := o.tcp, machine.Far
	a.WarnAll(measure.Surroundings(1))
	if address == loopback {
		class = machine.Node
	}
	var link *tcpLink
	dial := func() (measure.Link, error) {
		link.close()
		link, err = dialTCP(ctx, o.tcp)
		return link, err
	}
	if _, err := dial(); err != nil {
		return err
	}
	defer func() { link.close() }()
	r.begin = time.Now()
	r.progress(a, "TCP to "+o.tcp)
	if class == machine.Node {
		r.options.Renew = dial
	}
	n, err := measure.MeasureNetwork(ctx, link, *r.options)
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("TCP to %s: %w", o.tcp, err)
	}
	name, _ := os.Hostname()
	host, _, _ := net.SplitHostPort(address)
	if class == machine.Node {
		host = name
	}
	r.over, r.hosts = "TCP", []string{name, host}
	r.classes = []measure.ClassNetwork{{Class: measure.Class{Name: class.String(), Pairs: [][2]int{{0, 1}}, Usual: [2]int{0, 1}}, Network: n}}
	return nil
}

// tcpLink is a link with the process at its other end, if that is ours.
type tcpLink struct {
	*measure.TCPLink
	server *exec.Cmd
	stop   func() bool // what ends the link if the context ends
}

// dialTCP connects to a server, or to one that it starts.
func dialTCP(ctx context.Context, address string) (l *tcpLink, err error) {
	l = &tcpLink{}
	if address == loopback {
		if l.server, address, err = startServer(ctx); err != nil {
			return nil, err
		}
	}
	if l.TCPLink, err = measure.DialTCP(ctx, address); err != nil {
		if l.server != nil {
			l.server.Process.Kill() //nolint:errcheck // it is of no use any more
			l.server.Wait()         //nolint:errcheck // see above
		}
		return nil, fmt.Errorf("--tcp: %w; is 'slackline measure network --listen' running there?", err)
	}
	connection := l.TCPLink
	l.stop = context.AfterFunc(ctx, func() { connection.Close() })
	return l, nil
}

// close ends the link and its server; what goes wrong then has no influence on what was measured.
func (l *tcpLink) close() {
	if l == nil {
		return
	}
	l.stop()
	l.Close() //nolint:errcheck // see above
	if l.server != nil {
		l.server.Wait() //nolint:errcheck // see above
	}
}

// startServer starts the other end on this host and returns its address.
func startServer(ctx context.Context) (*exec.Cmd, string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, "", err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	defer l.Close()
	file, err := l.(*net.TCPListener).File()
	if err != nil {
		return nil, "", err
	}
	defer file.Close()
	c := exec.CommandContext(ctx, self, "measure", networkServerVerb)
	c.ExtraFiles = []*os.File{file}
	if err := c.Start(); err != nil {
		return nil, "", fmt.Errorf("cannot start the other end: %w", err)
	}
	return c, l.Addr().String(), nil
}

// output writes everything that was asked for.
func (r *measuredNetwork) output(a *env.Env, o *measureNetworkOptions) error {
	if o.machine != "" {
		m, err := measure.MachineOf(o.name, r.note(), r.classes, r.hosts, r.options)
		if err != nil {
			return err
		}
		text := machine.Format(m)
		if _, err := machine.Read(o.machine, text); err != nil {
			return errors.Join(measure.ErrImplausible, err)
		}
		if err := a.WriteBeside(o.machine, nil, func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
			return err
		}
	}
	return a.WriteResult("measure network", r, &o.result, nil)
}

// note says in a machine file where it comes from.
func (r *measuredNetwork) note() string {
	var parts []string
	for i := range r.classes {
		c := &r.classes[i]
		parts = append(parts, fmt.Sprintf("%s: ranks %d and %d, half a round trip %.0f ns", c.Class.Name, c.Class.Usual[0], c.Class.Usual[1],
			c.Network.HalfRoundTrip.Value))
	}
	text := fmt.Sprintf("Measured by slackline over %s on %s (%s). o is the mean of both sides.", r.over, hostsText(r.hosts),
		strings.Join(parts, "; "))
	if len(r.classes) == 1 && r.classes[0].Class.Name == machine.Node.String() {
		text += " Only one host was measured: all pairs have its parameters."
	}
	return text
}
