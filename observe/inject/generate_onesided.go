package inject

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// oneSidedHooks are what the library does before and after a one-sided call, in C, by the name of the function without R: w is what
// is known of the window.
var oneSidedHooks = map[string]struct{ before, after string }{
	"Win_allocate":        {"", "inj_window_made(comm, *win)"},
	"Win_allocate_shared": {"", "inj_window_made(comm, *win)"},
	"Win_create":          {"", "inj_window_made(comm, *win)"},
	"Win_create_dynamic":  {"", "inj_window_made(comm, *win)"},
	"Win_free":            {"inj_window_ends(w)", "inj_window_freed(w)"},
	"Win_fence":           {"inj_fence(w)", ""},
	"Win_post":            {"inj_post(w, group)", ""},
	"Win_start":           {"inj_start(w, group)", ""},
	"Win_complete":        {"inj_complete(w)", "inj_completed(w)"},
	"Win_wait":            {"inj_exposed(w, true)", ""},
	"Win_test":            {"bool there = inj_exposed(w, false)", ""},
	"Win_lock":            {"inj_lock(w, rank, assert)", "inj_locked(w, rank, assert)"},
	"Win_unlock":          {"inj_unlock(w, rank)", "inj_unlocked(w, rank)"},
	"Win_lock_all":        {"", ""},
	"Win_unlock_all":      {"int64_t enter = inj_now()", "inj_flushed(w, INJ_ALL, enter)"},
	"Win_flush":           {"int64_t enter = inj_now()", "inj_flushed(w, rank, enter)"},
	"Win_flush_all":       {"int64_t enter = inj_now()", "inj_flushed(w, INJ_ALL, enter)"},
	"Win_flush_local":     {"", "inj_flushed_local(w, rank)"},
	"Win_flush_local_all": {"", "inj_flushed_local(w, INJ_ALL)"},
	"Put":                 {"inj_put(w, target_rank, inj_size(origin_count, origin_datatype))", ""},
	"Accumulate":          {"inj_put(w, target_rank, inj_size(origin_count, origin_datatype))", ""},
	"Get":                 {"int64_t due = inj_get(w, target_rank, 0, inj_size(origin_count, origin_datatype))", ""},
	"Get_accumulate": {"int64_t due = inj_get(w, target_rank, op == MPI_NO_OP ? 0 : inj_size(origin_count, origin_datatype), " +
		"inj_size(result_count, result_datatype))", ""},
	"Fetch_and_op":     {"inj_get(w, target_rank, op == MPI_NO_OP ? 0 : inj_size(1, datatype), inj_size(1, datatype))", ""},
	"Compare_and_swap": {"inj_get(w, target_rank, 2 * inj_size(1, datatype), inj_size(1, datatype))", ""},
}

// hooks are those of the wrapped function.
func (w wrapper) hooks() (before, after string) {
	h := oneSidedHooks[w.Name]
	if w.Class != "irma" {
		before, after = strings.TrimPrefix(h.before, "int64_t due = "), h.after
		return before, after
	}
	plain := strings.TrimPrefix(w.Name, "R")
	h = oneSidedHooks[strings.ToUpper(plain[:1])+plain[1:]]
	if strings.HasPrefix(h.before, "int64_t due") {
		return h.before, "inj_answered(*request, due)"
	}
	return h.before, h.after
}

// windowOf is the expression for the window that a call works on; it is empty for those that make one.
func (w wrapper) windowOf() string {
	last := w.Params[slices.IndexFunc(w.Params, func(p parameter) bool { return strings.HasPrefix(p.CType, "MPI_Win") })]
	switch {
	case w.Name == "Win_free":
		return "*" + last.Name
	case last.CType == "MPI_Win *":
		return ""
	}
	return last.Name
}

// writeOneSided writes the wrapper of a one-sided call around the real one, whose result is an expression for MPI_SUCCESS. Bindings
// that call another one leave it to that.
func (w wrapper) writeOneSided(b *strings.Builder, real, result, results string) {
	line := func(format string, args ...any) { fmt.Fprintf(b, "    "+format+"\n", args...) }
	before, after := w.hooks()
	line("bool outer = inj_inside++ == 0;")
	if win := w.windowOf(); win != "" {
		line("struct window *w = outer ? inj_window(%s) : NULL;", win)
		line("if (outer) w != NULL ? inj_count_replaced(%d) : inj_add(&inj_report->unhandled[%d], 1);", w.number, w.number)
	}
	line("if (outer) inj_drain();")
	if before != "" {
		line("%s;", before)
	}
	line("%s", real)
	if results != "" {
		b.WriteString(results)
	}
	line("inj_inside--;")
	switch {
	case after == "":
	case w.windowOf() == "":
		line("if (outer && %s == MPI_SUCCESS) %s;", result, after)
	default:
		line("if (%s == MPI_SUCCESS) %s;", result, after)
	}
}

var word = regexp.MustCompile(`[A-Za-z_]+`)

// fortranValues are the C values, made of Fortran's, that the hooks need.
func (w wrapper) fortranValues() (before, after string) {
	first, second := w.hooks()
	used := word.FindAllString(first+" "+second+" "+w.windowOf(), -1)
	var values, results strings.Builder
	for _, p := range w.Params {
		n := p.Name
		if !slices.Contains(used, n) {
			continue
		}
		switch p.CType {
		case "int":
			fmt.Fprintf(&values, "    int %s = *f_%s;\n", n, n)
		case "MPI_Datatype":
			fmt.Fprintf(&values, "    MPI_Datatype %s = PMPI_Type_f2c(*f_%s);\n", n, n)
		case "MPI_Comm", "MPI_Group", "MPI_Win", "MPI_Op":
			fmt.Fprintf(&values, "    %s %s = P%s_f2c(*f_%s);\n", p.CType, n, p.CType, n)
		case "MPI_Win *", "MPI_Request *":
			kind := strings.TrimSuffix(p.CType, " *")
			fmt.Fprintf(&values, "    %s c_%s = P%s_f2c(*f_%s), *%s = &c_%s;\n", kind, n, kind, n, n, n)
			if w.Name != "Win_free" {
				fmt.Fprintf(&results, "    c_%s = P%s_f2c(*f_%s);\n", n, kind, n)
			}
		}
	}
	return values.String(), results.String()
}
