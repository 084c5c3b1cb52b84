package phrase

import (
	"strings"
	"testing"
	"unicode/utf8"

	"slackline/internal/table"
)

func TestShortPath(t *testing.T) {
	for _, tc := range []struct {
		name string
		most int
		want string
	}{
		{"main/solve/MPI_Recv", 40, "main/solve/MPI_Recv"},
		{"main/void lib::Solver<double, std::vector<double, std::allocator<double> > >::run(int, double const&)/MPI_Allreduce", 60,
			"main/void lib::Solver<..>::run(..)/MPI_Allreduce"},
		{"main/a1/a2/a3/a4/a5/a6/solve/MPI_Allreduce", 32, "main/.../a6/solve/MPI_Allreduce"},
		{"main->a1->a2->a3->a4->a5->solve->MPI_Allreduce", 32, "main->...->solve->MPI_Allreduce"},
		{"<module>/<listcomp>/step/numpy.linalg.solve/mpi4py.MPI.Comm.Allreduce/MPI_Allreduce", 50,
			".../mpi4py.MPI.Comm.Allreduce/MPI_Allreduce"},
		{"main/N::Run::command/N::Verlet::run/N::Comm::borders/MPI_Send", 40, "main/.../N::Comm::borders/MPI_Send"},
		{"main/N::Run::command/N::Verlet::run/N::Comm::borders/MPI_Send", 32, ".../N::Comm::borders/MPI_Send"},
		{"main/N::Run::command/N::Verlet::run/N::Comm::borders/MPI_Send", 26, ".../Comm::borders/MPI_Send"},
		{"main/N::Run::command/N::Verlet::run/N::Comm::borders/MPI_Send", 22, ".../borders/MPI_Send"},
		{"main/N::Run::command/N::Verlet::run/N::Comm::borders/MPI_Send", 14, ".../MPI_Send"},
		{"main/N::Run::command/N::Verlet::run/N::Comm::borders/MPI_Send", 18, "...orders/MPI_Send"},
		{"main/N::Run::command/N::Verlet::run/N::Comm::borders/MPI_Send/no CPU", 38, ".../N::Comm::borders/MPI_Send/no CPU"},
		{"main/N::Run::command/N::Verlet::run/N::Comm::borders/MPI_Send/[noise]", 30, ".../borders/MPI_Send/[noise]"},
		{"main/N::Run::command/N::Verlet::run/N::Comm::borders/MPI_Send/no CPU", 24, "...rders/MPI_Send/no CPU"},
		{"std::ostream& operator<< <std::char_traits<char> >(std::ostream&, char const*)", 40, ""},
		{"(anonymous namespace)::worker(std::map<int, std::string> const&, unsigned long)", 40, "(anonymous namespace)::worker(..)"},
		{"operator<", 4, "operator<"},
		{"f->operator<->g_with_a_very_long_name_indeed", 20, ""},
		{strings.Repeat("x", 100) + "_end", 20, "xxxxxxxx...xxxxx_end"},
		{"main/" + strings.Repeat("ä", 100), 20, ""},
	} {
		got := ShortPath(tc.name, tc.most)
		if n := utf8.RuneCountInString(got); n > max(tc.most, 12) || tc.want != "" && got != tc.want || !utf8.ValidString(got) {
			t.Errorf("ShortPath(%q, %d) = %q of %d letters, want %q", tc.name, tc.most, got, n, tc.want)
		}
	}
}

// Call paths are shortened where a table is too wide, and a chart keeps its blanks.
func TestNarrowTables(t *testing.T) {
	tab := PathTable("callpath=in", ">time", "over")
	tab.Columns[2].Fixed = true
	path := "main/" + strings.Repeat("phase/", 30) + "MPI_Allreduce"
	chart := "|.   :   *   #    .    :    #|"
	tab.Add(path, "3 s", chart)
	var b strings.Builder
	tab.WriteText(&b, table.TextOptions{Width: 80})
	text := b.String()
	if !strings.Contains(text, chart) || !strings.Contains(text, "main/.../") || !strings.Contains(text, "/MPI_Allreduce") {
		t.Errorf("the table is\n%s", text)
	}
	for line := range strings.Lines(text) {
		if len(strings.TrimRight(line, "\n")) > 80 {
			t.Errorf("%q has %d letters", line, len(line))
		}
	}
	b.Reset()
	if err := tab.WriteCSV(&b); err != nil || !strings.Contains(b.String(), path) {
		t.Errorf("CSV has not the whole path: %v\n%s", err, b.String())
	}
}
