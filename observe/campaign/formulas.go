package campaign

import (
	"math"
	"slices"
	"strings"

	"slackline/internal/yamlfile"
)

// formula is the content of the braces of a template, and where it is.
type formula struct {
	*expression
	node  yamlfile.Node
	what  string // key of the plan
	whole bool   // the number of something
}

// countOptions are the options of launchers and batch systems whose value is a number of something.
var countOptions = []string{"-n", "-np", "--np", "--n", "-N", "-c", "--ntasks", "--nodes", "--ntasks-per-node", "--cpus-per-task",
	"--npernode", "-ppn"}

// noteFormulas keeps the formulas of a command, so that they are tried at all points when the plan is read.
func (r *planReader) noteFormulas(n yamlfile.Node, what string, words []string, list []*template) {
	if len(words) != len(list) {
		return // a template has a mistake, which was reported
	}
	for i, t := range list {
		before := ""
		if i > 0 {
			before = words[i-1]
		}
		for k, part := range t.parts {
			if part.expr == nil {
				continue
			}
			if k > 0 {
				before = strings.TrimSuffix(t.parts[k-1].text, "=")
			}
			r.formulas = append(r.formulas, formula{part.expr, n, what, k == len(t.parts)-1 && k < 2 && slices.Contains(countOptions, before)})
		}
	}
}

// checkFormulas finds formulas that have no value at some point: a program must not get +Inf or NaN, and a launcher not half a
// process.
func (r *planReader) checkFormulas(doc *yamlfile.Document) error {
	p := r.plan
	all, err := p.combinations()
	if err != nil {
		return err
	}
	for _, f := range p.only {
		for _, at := range all {
			if math.IsNaN(f.value(p.named(at))) {
				doc.Errorf(f.at, "only: %s has no value at %s; is it a division by 0?", yamlfile.Quote(f.text), p.place(at))
				break
			}
		}
	}
	for _, f := range r.formulas {
		for _, at := range all {
			if !p.wanted(at) {
				continue
			}
			x := f.value(p.named(at))
			switch {
			case math.IsNaN(x) || math.IsInf(x, 0):
				f.node.Errorf("%s: {%s} has no finite value at %s; is it a division by 0?", f.what, f.text, p.place(at))
			case f.whole && (x != math.Trunc(x) || x < 1):
				f.node.Errorf("%s: {%s} is %s at %s, but a whole number above 0 is needed there", f.what, f.text, decimal(x), p.place(at))
			default:
				continue
			}
			break
		}
	}
	return nil
}
