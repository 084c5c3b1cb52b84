package scaling

import "strings"

// Landau prints how the largest terms of several parameters grow together, e.g. "O(p * log n)".
func Landau(names []string, leads []Term, form Form) string {
	var parts []string
	for i, lead := range leads {
		if lead != (Term{}) {
			parts = append(parts, lead.landau(names[i]))
		}
	}
	joint := " * "
	if form == Sum {
		joint = " + "
	}
	if len(parts) == 0 {
		return "O(1)"
	}
	return "O(" + strings.Join(parts, joint) + ")"
}

// Landau prints how the model grows.
func (f *Fit) Landau() string { return Landau(f.Parameters, f.Leads, f.Form) }
