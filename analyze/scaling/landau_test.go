package scaling

import "testing"

// TestLandau: the largest terms of several parameters, joined as the form of the model says; constants are left out.
func TestLandau(t *testing.T) {
	p, q, r, one := termOf3(0, 6, 0), termOf3(0, 0, 6), termOf3(0, 12, 0), Term{}
	names := []string{"p", "n", "m"}
	for _, tc := range []struct {
		leads []Term
		form  Form
		want  string
	}{
		{[]Term{p}, Product, "O(p)"},
		{[]Term{one}, Product, "O(1)"},
		{[]Term{p, q}, Product, "O(p * log n)"},
		{[]Term{p, q}, Sum, "O(p + log n)"},
		{[]Term{one, q}, Sum, "O(log n)"},
		{[]Term{p, one}, Product, "O(p)"},
		{[]Term{one, one}, Sum, "O(1)"},
		{[]Term{p, q, r}, Product, "O(p * log n * m^2)"},
		{[]Term{p, q, r}, FirstAlone, "O(p + log n * m^2)"},
		{[]Term{one, q, r}, FirstAlone, "O(log n * m^2)"},
		{[]Term{p, one, one}, FirstAlone, "O(p)"},
		{[]Term{one, one, one}, FirstAlone, "O(1)"},
		{[]Term{p, one, r}, FirstAlone, "O(p + m^2)"},
		{[]Term{p, q, r}, SecondAlone, "O(p * m^2 + log n)"},
		{[]Term{one, q, one}, SecondAlone, "O(log n)"},
		{[]Term{p, one, r}, SecondAlone, "O(p * m^2)"},
		{[]Term{p, q, r}, ThirdAlone, "O(p * log n + m^2)"},
	} {
		if got := Landau(names[:len(tc.leads)], tc.leads, tc.form); got != tc.want {
			t.Errorf("%v in form %v: %s, want %s", tc.leads, tc.form, got, tc.want)
		}
	}
}
