// Package campaign runs a program again and again, over ranges of parameters, and keeps what came out.
//
// A plan defines what is run. Its runs are started in a random order, each by a supervisor, a process of
// its own that outlives a kill of the campaign and notes how the run ended. The journal has a line for
// each start and each end; a campaign that was ended at any moment goes on from there, and takes over
// runs that were still at work. The outputs become a dataset.
//
// The package does not know what measurements mean, and prints nothing.
package campaign

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"slackline/internal/yamlfile"
	"slackline/model/dataset"
	"slackline/model/unit"
)

// Plan is the content of a plan file.
type Plan struct {
	Parameters  []Parameter // in the order of the file
	Repetitions int
	Seed        *uint64 // of the order; nil: chosen at the first start
	Directory   string  // where programs run, relative to the plan; empty: where the plan is
	Timeout     time.Duration
	Retries     int
	Jobs        int     // runs at a time on a host; 0: as in Options
	Budget      float64 // core hours; 0: no limit
	Metrics     []Metric
	Versions    [][]string // commands that print what is run
	Dataset     string     // the file to collect into; empty: none
	Check       string     // the expectations to check; empty: none

	only        []*expression
	lines       bool // the points are those of lines, not all combinations
	command     []*template
	launch      []*template
	batch       *Batch // nil: runs are started here
	environment []variable
	cores       *expression
	signature   string // what is run: commands and their surroundings, without the points; another one means other measurements
}

// Parameter is a parameter with its values.
type Parameter struct {
	Name   string
	Values []float64
}

// variable is an environment variable of the runs.
type variable struct {
	name  string
	value *template
}

// Batch defines how runs become jobs of a batch system.
type Batch struct {
	Submit, Queue []string // commands; the script and the name of the job are added
	Options       []*template
	Setup         string // lines of the script before the run
	Poll          time.Duration
}

// maxRuns is how many runs a plan may have.
const maxRuns = 100_000

// The names that templates know beside parameters.
var (
	textNames  = []string{"repetition", "run", "dir"}
	launchText = append([]string{"command"}, textNames...)
)

var (
	planRules = yamlfile.Rules{
		Thing: "plan", MaxBytes: 64 << 10, MaxKeys: 2000,
		Long: "split it into several plans", Deep: "write it flat",
		Empty:  `holds no plan; write e.g. "parameters: {p: 2^1..2^6}" and "command: ./program {p}"`,
		Second: "a second document starts here; put it into a file of its own",
	}
	planKeys = yamlfile.Keys{
		Names: []string{"note", "parameters", "design", "only", "repetitions", "seed", "command", "launch", "batch", "directory", "environment",
			"cores", "timeout", "retries", "jobs", "budget", "metrics", "versions", "dataset", "check"},
		Words: []yamlfile.Word{{Word: "filter", Key: "only"}, {Word: "where", Key: "only"}, {Word: "program", Key: "command"},
			{Word: "run", Key: "command"},
			{Word: "env", Key: "environment"}, {Word: "collect", Key: "dataset"}, {Word: "output", Key: "metrics"}, {Word: "expectations",
				Key: "check"},
			{Word: "core_hours", Key: "budget"}, {Word: "parallel", Key: "jobs"}, {Word: "mpirun", Key: "launch"}, {Word: "sbatch", Key: "launch"}},
		Example: "command: ./program {p}",
	}
	batchKeys = yamlfile.Keys{
		Names:   []string{"submit", "queue", "options", "setup", "poll"},
		Example: "options: [--partition=short]",
	}
)

// The words for designs: which combinations of the values of parameters are run.
const (
	designAll   = "all"
	designLines = "lines"
)

// The words for launchers.
const (
	launchLocal  = "local"
	launchMPIRun = "mpirun"
	launchSbatch = "sbatch"
)

// parsePlan reads a plan. All mistakes are reported, with their places.
func parsePlan(name string, data []byte) (*Plan, error) {
	doc := yamlfile.New(name, &planRules)
	root, ok := doc.Parse(data)
	if !ok {
		return nil, doc.Err()
	}
	r := &planReader{plan: &Plan{Repetitions: 1}}
	entries := root.Mapping("", &planKeys)
	for _, e := range entries { // the names are needed by all others
		if e.Key == "parameters" {
			r.parameters(e)
		}
	}
	given := map[string]bool{}
	for _, e := range entries {
		given[e.Key] = true
		r.entry(e)
	}
	switch {
	case len(doc.Errors) > 0:
	case !given["command"]:
		doc.Errorf(yamlfile.Place{}, `has no command; give e.g. "command: ./program {p}"`)
	case given["batch"] && !r.sbatch:
		doc.Errorf(yamlfile.Place{}, "batch has no meaning without \"launch: sbatch\"")
	default:
		r.finish(doc)
	}
	if err := doc.Err(); err != nil {
		return nil, err
	}
	return r.plan, nil
}

// finish fills in what was not given, and checks what belongs together.
func (r *planReader) finish(doc *yamlfile.Document) {
	p := r.plan
	if r.sbatch && p.batch == nil {
		p.batch = newBatch()
	}
	if len(p.Metrics) == 0 {
		p.Metrics = []Metric{{from: fromWall}}
	}
	if p.cores == nil {
		text := "1"
		if slices.Contains(r.names, "p") {
			text = "p"
		}
		p.cores, _ = parseExpression(text, r.names)
	}
	if p.launch == nil {
		command, _ := parseTemplate("{command}", r.names, launchText)
		p.launch = []*template{command}
	}
	if err := r.checkFormulas(doc); err != nil {
		doc.Errorf(yamlfile.Place{}, "%v", err)
	} else if _, err := p.runs(0); err != nil && len(doc.Errors) == 0 {
		doc.Errorf(yamlfile.Place{}, "%v", err)
	}
	slices.Sort(r.signature)
	p.signature = strings.Join(r.signature, "\n")
}

// Names are the names of the parameters.
func (p *Plan) Names() []string {
	names := make([]string, len(p.Parameters))
	for i, q := range p.Parameters {
		names[i] = q.Name
	}
	return names
}

// IsBatch reports whether runs are jobs of a batch system.
func (p *Plan) IsBatch() bool { return p.batch != nil }

// planReader reads the entries of a plan.
type planReader struct {
	plan      *Plan
	names     []string
	sbatch    bool // runs are jobs
	signature []string
	formulas  []formula // of templates
}

var parameterName = regexp.MustCompile(`^[A-Za-z]+$`)

func (r *planReader) parameters(e yamlfile.Entry) {
	entries, ok := e.Value.Entries()
	if !ok {
		e.Errorf("parameters must be names with values, as in \"p: 2^1..2^6\"")
		return
	}
	if len(entries) > dataset.MaxParameters {
		e.Errorf("there are %d parameters; at most %d can be modeled", len(entries), dataset.MaxParameters)
	}
	for _, q := range entries {
		switch {
		case !parameterName.MatchString(q.Key) || q.Key == "r" || q.Key == "and" || q.Key == "or":
			q.Errorf("expected letters as the name of a parameter, e.g. p or size (r counts repetitions), got %s", yamlfile.Quote(q.Key))
			continue
		case slices.Contains(launchText, q.Key):
			q.Errorf("%s has a meaning of its own; give the parameter another name", q.Key)
			continue
		case slices.Contains(r.names, q.Key):
			q.Errorf("the parameter %s is given twice", q.Key)
			continue
		}
		r.names = append(r.names, q.Key)
		r.plan.Parameters = append(r.plan.Parameters, Parameter{q.Key, valuesOf(q)})
	}
}

// valuesOf reads the values of a parameter: text, or a list of texts. Each counts once.
func valuesOf(q yamlfile.Entry) []float64 {
	var list []float64
	for _, n := range nodes(q) {
		text, ok := n.Text(q.Key)
		if !ok {
			continue
		}
		values, err := parseValues(text)
		if err != nil {
			n.Errorf("%s: %v", q.Key, err)
		}
		list = append(list, values...)
	}
	slices.Sort(list)
	list = slices.Compact(list)
	if len(list) == 0 {
		q.Errorf("%s has no value; give e.g. 2^1..2^6", q.Key)
	}
	return list
}

func (r *planReader) entry(e yamlfile.Entry) {
	p := r.plan
	switch e.Key {
	case "note":
		e.Value.Text("note")
	case "design":
		p.lines = design(e)
	case "only":
		p.only = r.filters(e)
	case "repetitions":
		p.Repetitions = int(integer(e, 1, maxRuns))
	case "seed":
		seed := uint64(integer(e, 0, 1<<53))
		p.Seed = &seed
	case "command":
		p.command = r.words(e, textNames)
	case "launch":
		r.launch(e)
	case "batch":
		r.batch(e)
	case "directory":
		p.Directory, _ = e.Value.Text(e.Key)
	case "environment":
		r.environment(e)
	case "cores":
		p.cores = r.expression(e.Value, e.Key)
	case "timeout":
		p.Timeout = duration(e)
	case "retries":
		p.Retries = int(integer(e, 0, 100))
	case "jobs":
		p.Jobs = int(integer(e, 1, 1000))
	case "budget":
		p.Budget = coreHours(e)
	case "metrics":
		p.Metrics = r.metrics(e)
	case "versions":
		for _, n := range nodes(e) {
			if words, ok := wordsOf(n, e.Key); ok {
				p.Versions = append(p.Versions, words)
			}
		}
	case "dataset":
		p.Dataset, _ = e.Value.Text(e.Key)
	case "check":
		p.Check, _ = e.Value.Text(e.Key)
	}
}

// design reads which combinations are run, and reports whether it is lines.
func design(e yamlfile.Entry) bool {
	word, ok := e.Value.Text(e.Key)
	if ok && word != designAll && word != designLines {
		e.Errorf("expected %s or %s, got %s", designAll, designLines, yamlfile.Quote(word))
	}
	return word == designLines
}

// nodes are the entries of a list; one value is a list of one.
func nodes(e yamlfile.Entry) []yamlfile.Node {
	if list, ok := e.Value.List(); ok {
		return list
	}
	return []yamlfile.Node{e.Value}
}

func (r *planReader) filters(e yamlfile.Entry) []*expression {
	var list []*expression
	for _, n := range nodes(e) {
		if x := r.expression(n, e.Key); x != nil {
			list = append(list, x)
		}
	}
	return list
}

func (r *planReader) expression(n yamlfile.Node, what string) *expression {
	text, ok := n.Text(what)
	if !ok {
		return nil
	}
	x, err := parseExpression(text, r.names)
	if err != nil {
		n.Errorf("%s: %s: %v", what, yamlfile.Quote(text), err)
		return nil
	}
	x.at = n.At
	return x
}

// wordsOf splits a command, or takes the words of a list.
func wordsOf(n yamlfile.Node, what string) ([]string, bool) {
	if list, ok := n.List(); ok {
		var words []string
		for _, m := range list {
			if w, ok := m.Text(what); ok {
				words = append(words, w)
			}
		}
		if len(words) == 0 {
			n.Errorf("%s has no words", what)
		}
		return words, len(words) > 0
	}
	text, ok := n.Text(what)
	if !ok {
		return nil, false
	}
	words, err := splitWords(text)
	if err != nil {
		n.Errorf("%s %v", what, err)
	}
	return words, err == nil
}

// words reads a command whose words are templates, and makes them a part of the signature.
func (r *planReader) words(e yamlfile.Entry, texts []string) []*template {
	words, ok := wordsOf(e.Value, e.Key)
	if !ok {
		return nil
	}
	r.signature = append(r.signature, e.Key+": "+Quote(words))
	return r.templates(e.Value, e.Key, words, texts)
}

func (r *planReader) templates(n yamlfile.Node, what string, words, texts []string) []*template {
	var list []*template
	for _, w := range words {
		t, err := parseTemplate(w, r.names, texts)
		if err != nil {
			n.Errorf("%s: %v", what, err)
			continue
		}
		list = append(list, t)
	}
	r.noteFormulas(n, what, words, list)
	return list
}

// coreHours reads a budget: a number of core hours, with or without the unit.
func coreHours(e yamlfile.Entry) float64 {
	text, ok := e.Value.Text(e.Key)
	if !ok {
		return 0
	}
	text = strings.TrimSpace(strings.TrimSuffix(text, "core hours"))
	x, err := unit.ParseNumber(text)
	if err != nil || x <= 0 {
		e.Value.Errorf("budget: expected a number of core hours above 0, got %s", yamlfile.Quote(text))
	}
	return x
}

func integer(e yamlfile.Entry, low, high int64) int64 {
	text, ok := e.Value.Text(e.Key)
	if !ok {
		return low
	}
	n, err := strconv.ParseInt(strings.ReplaceAll(text, "_", ""), 10, 64)
	if err != nil || n < low || n > high {
		e.Value.Errorf("%s: expected a whole number from %d to %d, got %s", e.Key, low, high, yamlfile.Quote(text))
		return low
	}
	return n
}

func duration(e yamlfile.Entry) time.Duration {
	text, ok := e.Value.Text(e.Key)
	if !ok {
		return 0
	}
	d, err := time.ParseDuration(strings.ReplaceAll(text, " ", ""))
	if err != nil || d <= 0 {
		e.Value.Errorf("%s: expected a time such as 90s, 15m or 2h, got %s", e.Key, yamlfile.Quote(text))
	}
	return d
}
