package waits

import (
	"regexp"
	"strings"
	"testing"
)

// TestTable walks the table of wait states: each is described completely, can be found, and differs from all others.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	unique := func(what, value string) {
		if value == "" || seen[what+value] {
			t.Errorf("%s %q is missing or used twice", what, value)
		}
		seen[what+value] = true
	}
	color := regexp.MustCompile(`^#[0-9A-F]{6}$`)
	for m := range None {
		k, info := kinds[m], m.Info()
		unique("name", info.Name)
		unique("title", info.Title)
		unique("short description", info.Short)
		unique("meaning", info.Meaning)
		unique("advice", info.Advice)
		unique("color", info.Color.Light)
		unique("dark color", info.Color.Dark)
		if !color.MatchString(info.Color.Light) || !color.MatchString(info.Color.Dark) {
			t.Errorf("%s: color %v is not #RRGGBB", m, info.Color)
		}
		if info.Because == "" || strings.Count(info.Because, "%") > 1 ||
			strings.Contains(info.Because, "%") != strings.Contains(info.Because, "%s") {
			t.Errorf("%s: because = %q, want at most one %%s", m, info.Because)
		}
		if info.Who != "" && strings.Count(info.Who, "%d") != 1 {
			t.Errorf("%s: who = %q, want one %%d", m, info.Who)
		}
		if ByName(info.Name) != m || m.String() != info.Name {
			t.Errorf("ByName(%q) = %v", info.Name, ByName(info.Name))
		}
		rules := 0
		for _, has := range []bool{
			k.message != nil, k.collectives != nil, k.epochs != nil, k.find != nil, k.mark != nil, k == &openMPIdle,
			k == lateContributor.before, k.inside,
		} {
			if has {
				rules++
			}
		}
		if rules != 1 {
			t.Errorf("%s is found by %d rules, want one", m, rules)
		}
		checkParent(t, m)
	}
	if None > 31 {
		t.Errorf("%d wait states do not fit into the 5 bits of costKey", None)
	}
}

// checkParent checks that sub-states, and only they, have what results need of them.
func checkParent(t *testing.T, m Metric) {
	k := kinds[m]
	if m.IsPart() != (k.mark != nil) || m.IsPart() != (k.Within != "") || m.IsPart() != (m.Parent() != None) {
		t.Errorf("%s: a sub-state needs a parent, a rule that marks it, and Within", m)
	}
	if m.IsPart() && m.Parent().IsPart() {
		t.Errorf("%s is a part of %s, which is a part itself", m, m.Parent())
	}
}

// TestOperations checks that every collective operation belongs to one wait state.
func TestOperations(t *testing.T) {
	for _, k := range kinds {
		for _, c := range k.collectives {
			for _, op := range c.ops {
				if rule := rules[ruleOf[c.scope][op]]; rule == nil || rule.kind != k {
					t.Errorf("%v does not belong to %s", op, k.Name)
				}
			}
		}
	}
}
