package scaling

import (
	"slices"
	"strconv"
	"strings"

	"slackline/internal/yamlfile"
)

// Expectations are the contents of an expectation file.
type Expectations struct {
	File   string
	Checks []*Expectation
	Rules  []*Rule
}

// Entry is what expectations and rules have in common.
type Entry struct {
	Metric   string // empty: the first of the function
	Target   *Target
	Litmus   bool   // checks the platform, not the program; never changes the verdict of the whole
	XFail    string // why it is known to fail
	Optional bool   // may be missing in the data
	Line     int    // in the file
}

// Expectation is how a function is expected to scale.
type Expectation struct {
	Entry
	Function string // a call path or its last name
	Expect   *Expression
	Limit    *Expression // of the deviation; nil: the default
	Max      *float64    // the value at the target must not be above it
	Space    Space       // of the search

	floorKnown bool // that it decreases only to a floor was known when it was expected
	larger     bool // is better: worse is what is below the lower limit
}

// Target is a place for predictions: a value of the first parameter, or of several by name.
type Target struct {
	Value float64 // used if Named is nil
	Named map[string]float64
}

var (
	expectationRules = yamlfile.Rules{
		Thing: "expectation", MaxBytes: 256 << 10, MaxKeys: 8000,
		Long: "split it into several files", Deep: "write it flat",
		Empty:  `holds no expectation; write e.g. "expectations: [{function: MPI_Bcast, expect: O(log p)}]"`,
		Second: "a second document begins here; put it into a file of its own",
	}
	fileKeys = yamlfile.Keys{
		Names:   []string{"note", "metric", "limit", "target", "expectations", "rules"},
		Example: "expectations: [{function: MPI_Bcast, expect: O(log p)}]",
	}
	expectationKeys = yamlfile.Keys{
		Names:   slices.Concat([]string{"function", "expect", "limit", "max", "space"}, entryKeys),
		Words:   []yamlfile.Word{{Word: "callpath", Key: "function"}, {Word: "expectation", Key: "expect"}, {Word: "budget", Key: "max"}},
		Example: "function: MPI_Bcast",
	}
	// entryKeys are the keys that Entry.read reads.
	entryKeys = []string{"metric", "target", "litmus", "xfail", "optional", "note"}
	spaceKeys = yamlfile.Keys{
		Names:   []string{"upper", "halvings", "lower", "add", "only"},
		Example: "upper: p^3",
	}
)

// ParseExpectations reads an expectation file. All mistakes are reported, with their
// places; names of parameters are checked later, against the data.
func ParseExpectations(name string, data []byte) (*Expectations, error) {
	doc := yamlfile.New(name, &expectationRules)
	root, ok := doc.Parse(data)
	if !ok {
		return nil, doc.Err()
	}
	r := &expectationReader{}
	e := &Expectations{File: name}
	var lists []yamlfile.Entry
	for _, entry := range root.Mapping("", &fileKeys) {
		switch entry.Key {
		case "expectations", "rules":
			lists = append(lists, entry)
		case "note":
			entry.Value.Text("note")
		case "metric":
			r.metric, _ = entry.Value.Text("metric")
		case "limit":
			r.limit = expressionOf(entry)
		case "target":
			r.target = targetOf(entry)
		}
	}
	for _, entry := range lists {
		list, ok := entry.Value.List()
		if !ok {
			entry.Errorf("%s must be a list", entry.Key)
		}
		for _, n := range list {
			if entry.Key == "rules" {
				e.Rules = append(e.Rules, r.rule(n))
			} else {
				e.Checks = append(e.Checks, r.expectation(n))
			}
		}
	}
	if len(e.Checks)+len(e.Rules) == 0 && len(doc.Errors) == 0 {
		doc.Errorf(yamlfile.Place{}, "%s", expectationRules.Empty)
	}
	return e, doc.Err()
}

// expectationReader has what a file gives for all its entries.
type expectationReader struct {
	metric string
	limit  *Expression
	target *Target
}

// entry returns an entry with what the file gives for all.
func (r *expectationReader) entry(n yamlfile.Node) Entry {
	return Entry{Metric: r.metric, Target: r.target, Line: n.At.Line}
}

// read reads one of entryKeys.
func (e *Entry) read(entry yamlfile.Entry) {
	switch entry.Key {
	case "metric":
		e.Metric, _ = entry.Value.Text("metric")
	case "target":
		e.Target = targetOf(entry)
	case "litmus":
		e.Litmus = boolOf(entry)
	case "optional":
		e.Optional = boolOf(entry)
	case "xfail":
		e.XFail = reasonFor(entry)
	case "note":
		entry.Value.Text("note")
	}
}

// outcome returns the outcome of an entry before it is judged.
func (e *Entry) outcome() Outcome { return Outcome{Litmus: e.Litmus, XFail: e.XFail, Line: e.Line} }

func (r *expectationReader) expectation(n yamlfile.Node) *Expectation {
	e := &Expectation{Entry: r.entry(n), Limit: r.limit}
	given := map[string]bool{}
	for _, entry := range n.Mapping("an expectation", &expectationKeys) {
		given[entry.Key] = true
		switch entry.Key {
		case "function":
			e.Function, _ = entry.Value.Text("function")
		case "expect":
			e.Expect = expressionOf(entry)
		case "limit":
			e.Limit = expressionOf(entry)
		case "max":
			if v, ok := numberOf(entry); ok {
				e.Max = &v
			}
		case "space":
			e.Space = spaceOf(entry)
		default:
			e.read(entry)
		}
	}
	if n.Kind() == yamlfile.Mapping {
		if e.Function == "" {
			n.Errorf("the expectation has no function; give a call path or its last name")
		}
		if !given["expect"] {
			n.Errorf("the expectation of %s is empty; give e.g. expect: O(log p)", e.Function)
		}
	}
	return e
}

// expressionOf parses the value of an entry; nil after a mistake.
func expressionOf(entry yamlfile.Entry) *Expression {
	text, ok := entry.Value.Text(entry.Key)
	if !ok {
		return nil
	}
	e, err := ParseExpression(text)
	if err != nil {
		entry.Value.Errorf("%s: %v", entry.Key, err)
		return nil
	}
	return e
}

func numberOf(entry yamlfile.Entry) (float64, bool) {
	text, ok := entry.Value.Text(entry.Key)
	if !ok {
		return 0, false
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	if err != nil || !(v > 0) || v > 1e300 {
		entry.Value.Errorf("%s: %s is not a number above 0", entry.Key, yamlfile.Quote(text))
		return 0, false
	}
	return v, true
}

func boolOf(entry yamlfile.Entry) bool {
	v, ok := entry.Value.Bool()
	if !ok {
		entry.Value.Errorf("%s is neither true nor false", entry.Key)
	}
	return v
}

// reasonFor reads why a failure is expected. false is "it is not"; a word that is only yes or no, or nothing at all, is not a reason.
func reasonFor(entry yamlfile.Entry) string {
	if v, ok := entry.Value.Bool(); ok && !v {
		return ""
	}
	text, ok := entry.Value.Text(entry.Key)
	if !ok {
		return ""
	}
	switch reason := strings.TrimSpace(text); strings.ToLower(reason) {
	case "", "true", "yes", "y", "on", "1", "false", "no", "n", "off", "0", "none", "null", "~", "-":
		entry.Value.Errorf("%s: %s is not the reason why it is expected to fail; give one, e.g. %s: \"issue 12\", or leave it out", entry.Key,
			yamlfile.Quote(text), entry.Key)
		return ""
	default:
		return reason
	}
}

func targetOf(entry yamlfile.Entry) *Target {
	if entries, ok := entry.Value.Entries(); ok {
		t := &Target{Named: map[string]float64{}}
		for _, e := range entries {
			if v, ok := numberOf(e); ok {
				t.Named[e.Key] = v
			}
		}
		return t
	}
	v, ok := numberOf(entry)
	if !ok {
		return nil
	}
	return &Target{Value: v}
}

func spaceOf(entry yamlfile.Entry) Space {
	var s Space
	if name, ok := entry.Value.Scalar(); ok {
		if !slices.Contains(SpaceNames(), name) {
			entry.Value.Errorf("space: %s is not one of %s; or give e.g. {%s}", yamlfile.Quote(name),
				strings.Join(SpaceNames(), ", "), spaceKeys.Example)
		}
		return NamedSpace(name)
	}
	for _, e := range entry.Value.Mapping("space", &spaceKeys) {
		switch e.Key {
		case "upper":
			if t, ok := termOf(e.Key, e.Value, nil); ok {
				s.Upper = &t
			}
		case "halvings":
			v, ok := numberOf(e)
			if s.Halvings = int(v); ok && (float64(s.Halvings) != v || s.Halvings > maxHalvings) {
				e.Value.Errorf("halvings is a whole number from 1 to %d", maxHalvings)
			}
		case "lower":
			for _, t := range termsOf(e, func(text string) string { return "p^" + text }) {
				s.Lower = append(s.Lower, t.Poly)
			}
		case "add":
			s.Add = termsOf(e, nil)
		case "only":
			s.Only = termsOf(e, nil)
		}
	}
	return s
}

// termsOf reads a list of expressions, see termOf.
func termsOf(entry yamlfile.Entry, wrap func(string) string) []Term {
	list, ok := entry.Value.List()
	if !ok {
		entry.Value.Errorf("%s must be a list", entry.Key)
	}
	var terms []Term
	for _, n := range list {
		if t, ok := termOf(entry.Key, n, wrap); ok {
			terms = append(terms, t)
		}
	}
	return terms
}

// termOf reads an expression in one parameter. wrap, if there is one, completes its text.
func termOf(key string, n yamlfile.Node, wrap func(string) string) (Term, bool) {
	text, ok := n.Text(key)
	if !ok {
		return Term{}, false
	}
	if wrap != nil {
		text = wrap("(" + text + ")")
	}
	t, err := ParseTerm(text)
	if err != nil {
		n.Errorf("%s: %v", key, err)
	}
	return t, err == nil
}
