package scaling

import (
	"cmp"
	"slices"
	"strings"
)

// Landau prints how the largest terms of several parameters grow together, e.g. "O(p * log n)".
func Landau(names []string, leads []Term, form Form) string {
	var parts []string
	alone := ""
	for i, lead := range leads {
		switch {
		case lead == (Term{}):
		case i == form.alone():
			alone = lead.landau(names[i])
		default:
			parts = append(parts, lead.landau(names[i]))
		}
	}
	joint := " * "
	if form == Sum {
		joint = " + "
	}
	sum := []string{strings.Join(parts, joint), alone}
	if form == FirstAlone {
		slices.Reverse(sum)
	}
	text := strings.Join(slices.DeleteFunc(sum, func(s string) bool { return s == "" }), " + ")
	return "O(" + cmp.Or(text, "1") + ")"
}

// Landau prints how the model grows.
func (f *Fit) Landau() string { return Landau(f.Parameters, f.Leads, f.Form) }
