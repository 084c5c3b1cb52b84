package dataset

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// hpcWriter writes a file of a database: numbers and texts at labels, and pointers to labels.
type hpcWriter struct {
	b        []byte
	labels   map[string]int
	pointers map[int]string
}

func newHPCWriter(kind string) *hpcWriter {
	return &hpcWriter{append([]byte("HPCTOOLKIT"+kind), 4, 0), map[string]int{}, map[int]string{}}
}

func (w *hpcWriter) u8(v ...byte) { w.b = append(w.b, v...) }

func (w *hpcWriter) u16(v uint16) { w.b = binary.LittleEndian.AppendUint16(w.b, v) }

func (w *hpcWriter) u32(v uint32) { w.b = binary.LittleEndian.AppendUint32(w.b, v) }

func (w *hpcWriter) u64(v uint64) { w.b = binary.LittleEndian.AppendUint64(w.b, v) }

// label names the next place, which is aligned as all structures are.
func (w *hpcWriter) label(name string) {
	for len(w.b)%8 != 0 {
		w.u8(0)
	}
	w.labels[name] = len(w.b)
}

// to writes a pointer to a label, 0 for none.
func (w *hpcWriter) to(label string) {
	if label != "" {
		w.pointers[len(w.b)] = label
	}
	w.u64(0)
}

// toText writes a pointer to a text of its own.
func (w *hpcWriter) toText(text string) { w.to("text " + text) }

// sections writes the table of sections, whose parts are between labels NAME and NAME end.
func (w *hpcWriter) sections(names ...string) {
	for _, name := range names {
		w.labels["size of "+name] = len(w.b)
		w.u64(0)
		w.to(name)
	}
}

// end writes the texts and the mark at the end, and sets pointers and sizes.
func (w *hpcWriter) end(mark string) []byte {
	for _, label := range slices.Compact(slices.Sorted(maps.Values(w.pointers))) {
		if text, ok := strings.CutPrefix(label, "text "); ok {
			w.labels[label] = len(w.b)
			w.u8(append([]byte(text), 0)...)
		}
	}
	w.label("foot")
	w.u8([]byte(mark)...)
	for at, label := range w.pointers {
		binary.LittleEndian.PutUint64(w.b[at:], uint64(w.labels[label]))
	}
	for label, at := range w.labels {
		if name, ok := strings.CutPrefix(label, "size of "); ok {
			binary.LittleEndian.PutUint64(w.b[at:], uint64(w.labels[name+" end"]-w.labels[name]))
		}
	}
	return w.b
}

// hpcContext is a context of the tree that a test writes.
type hpcContext struct {
	id                    uint32
	flags, relation, kind byte
	function              string // label, with flag 1
	line                  uint32 // with flag 2
	offset                uint64 // with flag 4
	children              []hpcContext
}

// The kinds of contexts in a tree.
func called(id uint32, function string, children ...hpcContext) hpcContext {
	return hpcContext{id: id, flags: 1, relation: 1, function: function, children: children}
}

func line(id, number uint32, children ...hpcContext) hpcContext {
	return hpcContext{id: id, flags: 2, kind: 2, line: number, children: children}
}

func (w *hpcWriter) contexts(label string, list []hpcContext) {
	w.label(label)
	for _, c := range list {
		w.labels[fmt.Sprint("context ", c.id)] = len(w.b)
		inner := ""
		if len(c.children) > 0 {
			inner = fmt.Sprint("below ", c.id)
		}
		if inner != "" {
			w.labels["size of "+inner] = len(w.b)
		}
		w.u64(0)
		w.to(inner)
		w.u32(c.id)
		words := c.flags&1 + c.flags&2 + c.flags&4/2
		w.u8(c.flags, c.relation, c.kind, words)
		w.u64(0) // propagation and a gap
		if c.flags&1 != 0 {
			w.to(c.function)
		}
		if c.flags&2 != 0 {
			w.to("file")
			w.u32(c.line)
			w.u32(0)
		}
		if c.flags&4 != 0 {
			w.to("module")
			w.u64(c.offset)
		}
	}
	w.labels[label+" end"] = len(w.b)
	for _, c := range list {
		if len(c.children) > 0 {
			w.contexts(fmt.Sprint("below ", c.id), c.children)
		}
	}
}

// hpcMetaFile is a meta.db. Metrics have statistics numbered from 10*their number on: point, function, execution, and the maximum
// of execution.
func hpcMetaFile(metrics []string, main, others []hpcContext) *hpcWriter {
	w := newHPCWriter("meta")
	w.sections("general", "kinds", "metrics", "contexts", "strings", "modules", "files", "functions")
	for _, name := range []string{"general", "strings", "modules", "files", "functions"} {
		w.label(name)
		w.labels[name+" end"] = len(w.b)
	}
	w.label("kinds")
	w.to("names of kinds")
	w.u8(4)
	w.label("names of kinds")
	for _, kind := range []string{"SUMMARY", "NODE", "RANK", "THREAD"} {
		w.toText(kind)
	}
	w.labels["kinds end"] = len(w.b)

	w.label("metrics")
	w.to("list of metrics")
	w.u32(uint32(len(metrics)))
	w.u8(40, 16, 24, 0) // metrics are longer than this version's
	w.to("scopes")
	w.u16(3)
	w.u8(16)
	w.label("scopes")
	for i, scope := range []string{"point", "function", "execution"} {
		w.labels["scope "+scope] = len(w.b)
		w.toText(scope)
		w.u8([]byte{1, 3, 2}[i], 0)
		w.label("next scope")
	}
	w.label("list of metrics")
	for _, name := range metrics {
		w.labels["metric "+name] = len(w.b)
		w.toText(name)
		w.u64(0)
		w.to("statistics of " + name)
		w.u16(0)
		w.u16(4)
		w.u32(0)
		w.u64(0)
	}
	for i, name := range metrics {
		w.label("statistics of " + name)
		for k, scope := range []string{"point", "function", "execution", "execution"} {
			w.to("scope " + scope)
			w.toText("$$")
			w.u8([]byte{0, 0, 0, 2}[k], 0)
			w.u16(uint16(10*i + k))
			w.u32(0)
		}
	}
	w.labels["metrics end"] = len(w.b)

	w.label("contexts")
	w.to("entries")
	w.u16(2)
	w.u8(32)
	w.label("entries")
	for i, name := range []string{"main thread", "application thread"} {
		w.labels["size of below "+name] = len(w.b)
		w.u64(0)
		w.to("below " + name)
		w.u32([]uint32{1, 20}[i])
		w.u16([]uint16{1, 2}[i])
		w.u16(0)
		w.toText(name)
	}
	w.contexts("below main thread", main)
	w.contexts("below application thread", others)
	w.labels["contexts end"] = len(w.b)

	w.label("module")
	w.u64(0)
	w.toText("/usr/lib/libx.so")
	w.label("file")
	w.u64(0)
	w.toText("src/a.c")
	for _, f := range []string{"main", "solve", "kernel", "worker", strings.Repeat("x", 3000), strings.Repeat("y", 3000)} {
		w.label(f)
		w.toText(f)
		w.to("module")
		w.u64(0x10)
		w.to("file")
		w.u64(3)
	}
	w.label("no name")
	w.u64(0)
	w.u64(0)
	w.u64(0)
	w.to("file")
	w.u64(7)
	return w
}

// hpcValue is a value of a context.
type hpcValue struct {
	context uint32
	metric  uint16
	value   float64
}

// hpcProfileFile is a profile.db with a summary, in the order of contexts, and a profile without values for each thread of ranks.
func hpcProfileFile(ranks, threads int, values []hpcValue) *hpcWriter {
	w := newHPCWriter("prof")
	w.sections("profiles", "tuples")
	w.label("profiles")
	w.to("list of profiles")
	w.u32(uint32(1 + max(ranks, 1)*threads))
	w.u8(48)
	w.label("list of profiles")
	contexts := 0
	for i, v := range values {
		if i == 0 || v.context != values[i-1].context {
			contexts++
		}
	}
	w.u64(uint64(len(values)))
	w.to("values")
	w.u64(uint64(contexts))
	w.to("index")
	w.u64(0)
	w.u64(1)
	for i := range max(ranks, 1) * threads {
		w.u64(0)
		w.to("values")
		w.u64(0)
		w.to("values")
		w.to(fmt.Sprint("thread ", i))
		w.u64(0)
	}
	w.labels["profiles end"] = len(w.b)
	w.label("tuples")
	for i := range max(ranks, 1) * threads {
		ids := [][2]byte{{1, 0}, {2, byte(i / threads)}, {3, byte(i % threads)}} // node, rank and thread
		if ranks == 0 {
			ids = [][2]byte{{1, 0}, {3, byte(i)}}
		}
		w.label(fmt.Sprint("thread ", i))
		w.u64(uint64(len(ids)))
		for _, id := range ids {
			w.u8(id[0], 0, 0, 0, id[1], 0, 0, 0)
			w.u64(uint64(id[1]))
		}
	}
	w.labels["tuples end"] = len(w.b)
	w.label("values")
	for _, v := range values {
		w.u16(v.metric)
		w.u64(math.Float64bits(v.value))
	}
	w.label("index")
	for i, v := range values {
		if i == 0 || v.context != values[i-1].context {
			w.u32(v.context)
			w.u64(uint64(i))
		}
	}
	return w
}

// hpcExample is a database of a run of 2 ranks with 2 threads each; without ranks of one process.
func hpcExample(ranks int) (meta, profile *hpcWriter) {
	meta = hpcMetaFile([]string{"CPUTIME (sec)", "GXCOPY (B)", "perf::cycles"}, []hpcContext{
		called(2, "main",
			line(3, 12, called(4, "solve",
				hpcContext{id: 5, flags: 6, kind: 1, line: 20, offset: 0x99, children: []hpcContext{
					{id: 6, flags: 1, relation: 2, function: "kernel"}, // inlined in a loop
				}})),
			line(7, 14, called(8, "solve")), // called at another line
			hpcContext{id: 9, flags: 4, relation: 1, kind: 3, offset: 0x1a},
			called(10, "no name"),
			hpcContext{id: 11, relation: 1, children: []hpcContext{line(12, 30)}},
			called(13, strings.Repeat("x", 3000), called(14, strings.Repeat("y", 3000), called(15, "kernel"))),
		),
	}, []hpcContext{called(21, "worker")})
	profile = hpcProfileFile(ranks, 2, []hpcValue{
		{0, 2, 40}, {0, 22, 300},
		{1, 2, 38},
		{2, 1, 2}, {2, 2, 38}, {2, 3, 19}, {2, 22, 300},
		{3, 1, 2}, {3, 2, 10}, // a line: part of main
		{4, 1, 4}, {4, 2, 14}, {4, 21, 100}, {4, 22, 300},
		{6, 1, 10}, {6, 2, 10}, {6, 11, 64}, {6, 21, 200},
		{8, 1, 1}, {8, 2, 1},
		{9, 1, 3},
		{10, 1, 5},
		{11, 1, 7},
		{12, 1, 7},
		{13, 1, 1}, {13, 2, 6},
		{14, 1, 2}, {14, 2, 5},
		{15, 1, 3}, {15, 2, 3},
		{20, 2, 2},
		{21, 1, 2}, {21, 2, 2},
		{77, 0, 5}, // an instruction, not in meta.db
	})
	return meta, profile
}

func hpcDir(meta, profile []byte) fstest.MapFS {
	return fstest.MapFS{"meta.db": {Data: meta}, "profile.db": {Data: profile}}
}

// TestReadHPCToolkit reads a database: exclusive and inclusive means over ranks, called contexts with their names.
func TestReadHPCToolkit(t *testing.T) {
	x := strings.Repeat("x", 3000)
	want := `p
<root> inclusive_CPUTIME: [2]=[20]
<root> inclusive_perf::cycles: [2]=[150]
main CPUTIME: [2]=[1]
main inclusive_CPUTIME: [2]=[19]
main inclusive_perf::cycles: [2]=[150]
main->solve CPUTIME: [2]=[2.5]
main->solve inclusive_CPUTIME: [2]=[7.5]
main->solve perf::cycles: [2]=[50]
main->solve inclusive_perf::cycles: [2]=[150]
main->solve->kernel CPUTIME: [2]=[5]
main->solve->kernel inclusive_CPUTIME: [2]=[5]
main->solve->kernel GXCOPY: [2]=[32]
main->solve->kernel perf::cycles: [2]=[100]
main->libx.so@0x1a CPUTIME: [2]=[1.5]
main->a.c:7 CPUTIME: [2]=[2.5]
main-><unknown> CPUTIME: [2]=[3.5]
main->X CPUTIME: [2]=[3]
main->X inclusive_CPUTIME: [2]=[3]
application thread inclusive_CPUTIME: [2]=[1]
application thread->worker CPUTIME: [2]=[1]
application thread->worker inclusive_CPUTIME: [2]=[1]
`
	meta, profile := hpcExample(2)
	dir := hpcDir(meta.end("_meta.db"), profile.end("_prof.db"))
	dir["cct.db"] = &fstest.MapFile{Data: []byte("HPCTOOLKITctxt")} // neither read nor reported
	dir["src/a.csv"] = &fstest.MapFile{Data: []byte("p,value\n1,2\n")}
	d, err := ReadDir("run", dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.ReplaceAll(dump(d), x, "X"); got != want {
		t.Errorf("%swant\n%s", got, want)
	}
	for metric, unit := range map[string]string{"CPUTIME": "s", "inclusive_CPUTIME": "s", "GXCOPY": "B", "perf::cycles": ""} {
		if s := d.Find("kernel", metric); s == nil || s.Unit != unit {
			t.Errorf("%s: %+v, want the unit %q", metric, s, unit)
		}
	}
	if len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0], "count as parts of their callers: 2; the first is yyy") {
		t.Errorf("warnings %q", d.Warnings)
	}
}

// Without ranks values are sums, as they are on request; names of directories add what a database does not have.
func TestPlacesOfHPCToolkit(t *testing.T) {
	files := fstest.MapFS{}
	for name, ranks := range map[string]int{"app.n1/db": 1, "app.n2/db": 2} {
		meta, profile := hpcExample(ranks)
		files[name+"/meta.db"] = &fstest.MapFile{Data: meta.end("_meta.db")}
		files[name+"/profile.db"] = &fstest.MapFile{Data: profile.end("_prof.db")}
	}
	for _, tc := range []struct {
		sum  bool
		want string
	}{{false, "[1 1]=[40] [2 2]=[20]"}, {true, "[1 1]=[40] [2 2]=[40]"}} {
		d, err := ReadDir("runs", files, Options{SumLocations: tc.sum, Format: "hpctoolkit"})
		if err != nil {
			t.Fatal(err)
		}
		if got := dump(d); !strings.HasPrefix(got, "n p\n<root> inclusive_CPUTIME: "+tc.want+"\n") {
			t.Errorf("sums %v: %swant %s", tc.sum, got[:200], tc.want)
		}
	}
	meta, profile := hpcExample(0)
	d, err := ReadDir("runs", hpcDir(meta.end("_meta.db"), profile.end("_prof.db")), Options{SumLocations: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := dump(d); !strings.HasPrefix(got, "\n<root> inclusive_CPUTIME: []=[40]\n") {
		t.Errorf("without ranks: %s", got[:200])
	}
	_, _, err = Read("run/meta.db", files["app.n1/db/meta.db"].Data, "")
	if err == nil || !strings.Contains(err.Error(), "give the directory") {
		t.Errorf("meta.db alone: %v", err)
	}
}

// TestDamagedHPCToolkit damages a database in one place each: the error names file and place, and nothing large is allocated.
func TestDamagedHPCToolkit(t *testing.T) {
	put := func(n int, v uint64) func([]byte, int) {
		return func(b []byte, _ int) { copy(b[:n], binary.LittleEndian.AppendUint64(nil, v)) }
	}
	for _, tc := range []struct {
		file, label string
		offset      int
		damage      func(b []byte, at int)
		want        string
	}{
		{"meta", "", 14, put(1, 5), "run/meta.db: is of version 5.0; version 4 is read"},
		{"meta", "", 10, func(b []byte, _ int) { copy(b, "trce") }, `run/meta.db: starts with "HPCTOOLKITtrce"`},
		{"meta", "foot", 0, put(1, 0), "run/meta.db: byte FOOT: ends with"},
		{"meta", "", 0x38, put(8, 1<<40), "run/meta.db: byte 1099511627776: the head of the metrics should have 27 bytes here"},
		{"meta", "metrics", 8, put(4, math.MaxUint32), "the metrics should have 171798691800 bytes here"},
		{"meta", "metrics", 0xc, put(1, 3), "the metrics: elements of 3 bytes cannot hold their 28 bytes of fields"},
		{"meta", "metric perf::cycles", 0, put(8, math.MaxUint64), "run/meta.db: byte 18446744073709551615: the name of a metric"},
		{"meta", "metric perf::cycles", 0x1a, put(2, math.MaxUint16), "the statistics of perf::cycles should have 1572840 bytes here"},
		{"meta", "contexts", 8, put(2, math.MaxUint16), "the entry points should have"},
		{"meta", "context 2", 0, put(8, math.MaxUint64), "the contexts have more bytes than the file"},
		{"meta", "context 2", 8, put(8, 1<<40), "run/meta.db: byte 1099511627776: an array of contexts should have"},
		{"meta", "context 2", 0x10, put(4, 6), "the number 6 of this context is taken"},
		{"meta", "context 2", 0x14, put(1, 7), "run/meta.db: byte PLACE: a context has 8 bytes for fields that need 40"},
		{"meta", "context 2", 0x17, put(1, 255), "run/meta.db: byte PLACE: a context reaches beyond its array"},
		{"meta", "context 2", 0x20, put(8, 1<<63), "run/meta.db: byte 9223372036854775808: a function should have 40 bytes here"},
		{"meta", "context 12", 0, func(b []byte, at int) { // its own child
			put(8, 0x30)(b, 0)
			put(8, uint64(at))(b[8:], 0)
		}, "run/meta.db: byte PLACE: the contexts have more bytes than the file: they overlap, or one is below itself"},
		{"profile", "", 0x10, put(8, math.MaxUint64), "run/profile.db: byte 48: the list of profiles should have 18446744073709551615 "},
		{"profile", "profiles", 8, put(4, math.MaxUint32), "the list of profiles should have 206158430160 bytes here"},
		{"profile", "profiles", 8, put(4, 0), "the first profile is not the summary"},
		{"profile", "list of profiles", 0x28, put(1, 0), "the first profile is not the summary"},
		{"profile", "list of profiles", 0, put(8, 1<<63+1), "the values of the summary should have 9223372036854775809 bytes here"},
		{"profile", "list of profiles", 8, put(8, 1<<40), "run/profile.db: byte 1099511627776: the values of the summary"},
		{"profile", "list of profiles", 0x10, put(4, math.MaxUint32), "the index of the summary should have 51539607540 bytes here"},
		{"profile", "thread 1", 0, put(2, math.MaxUint16), "run/profile.db: byte PLACE: the name of a thread has 65535 parts"},
		{"profile", "thread 1", 0, put(2, 64), "the name of a thread should have 1024 bytes here"},
		{"profile", "index", 4, put(8, 3), "run/profile.db: byte PLACE: a context has the values 3 to 2 of 33"},
		{"profile", "index", 4, put(8, 1), "run/profile.db: byte PLACE: context 0 has the values 1 to 2 of 33 after context -1, which"},
		{"profile", "index", 12, put(4, 0), "context 0 has the values 2 to 3 of 33 after context 0, "},
		{"profile", "values", 0, put(2, 99), "run/profile.db: byte PLACE: a value of metric 99, which meta.db does not have"},
		{"profile", "values", 2, put(8, math.Float64bits(39)),
			"run/profile.db: <root> has a sum of 39 of inclusive_CPUTIME, but what it called has 40: meta.db is not of the same database"},
		{"profile", "values", 2, put(8, math.Float64bits(math.NaN())), "run/profile.db: byte PLACE: a value is not a number"},
	} {
		meta, profile := hpcExample(2)
		files := map[string][]byte{"meta": meta.end("_meta.db"), "profile": profile.end("_prof.db")}
		place := map[string]*hpcWriter{"meta": meta, "profile": profile}[tc.file].labels[tc.label]
		tc.damage(files[tc.file][place+tc.offset:], place)
		want := strings.NewReplacer("PLACE", fmt.Sprint(place), "FOOT", fmt.Sprint(meta.labels["foot"])).Replace(tc.want)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := ReadDir("run", hpcDir(files["meta"], files["profile"]), Options{})
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s %s+%#x: %v, want something with %q", tc.file, tc.label, tc.offset, err, want)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
			t.Errorf("%s %s+%#x: %d bytes were allocated for %d bytes of files", tc.file, tc.label, tc.offset, n,
				len(files["meta"])+len(files["profile"]))
		}
	}
}

// TestIncompleteHPCToolkit cuts both files at every length, and leaves one away.
func TestIncompleteHPCToolkit(t *testing.T) {
	m, p := hpcExample(2)
	meta, profile := m.end("_meta.db"), p.end("_prof.db")
	for n := len(hpcMagic); n < len(meta); n += 7 {
		if _, err := readHPCToolkit("run", hpcDir(meta[:n], profile)); err == nil || !strings.HasPrefix(err.Error(), "run/meta.db: ") {
			t.Errorf("%d of %d bytes of meta.db: %v", n, len(meta), err)
		}
	}
	for n := 0; n < len(profile); n += 7 {
		if _, err := readHPCToolkit("run", hpcDir(meta, profile[:n])); err == nil || !strings.HasPrefix(err.Error(), "run/profile.db: ") {
			t.Errorf("%d of %d bytes of profile.db: %v", n, len(profile), err)
		}
	}
	if _, err := ReadDir("run", fstest.MapFS{"meta.db": {Data: meta}}, Options{}); err == nil ||
		!strings.Contains(err.Error(), "give a whole HPCToolkit database, with meta.db and profile.db") {
		t.Errorf("without profile.db: %v", err)
	}
	if _, err := ReadDir("run", fstest.MapFS{"meta.db": {Data: meta}, "profile.db": {Mode: fs.ModeNamedPipe}}, Options{}); err == nil {
		t.Error("a pipe as profile.db is no error")
	}
}

// A metric without a sum over threads cannot be read; a database without any says how to get them.
func TestHPCToolkitWithoutSums(t *testing.T) {
	meta, profile := hpcExample(2)
	data := bytes.Replace(meta.end("_meta.db"), []byte("$$\x00"), []byte("1\x00\x00"), 1)
	_, err := ReadDir("run", hpcDir(data, profile.end("_prof.db")), Options{})
	if err == nil || !strings.Contains(err.Error(), "none of 3 metrics has a sum over threads; write the database with 'hpcprof -M sum'") {
		t.Error(err)
	}
}

func FuzzHPCToolkit(f *testing.F) {
	for _, ranks := range []int{0, 2} {
		meta, profile := hpcExample(ranks)
		f.Add(meta.end("_meta.db"), profile.end("_prof.db"))
	}
	f.Fuzz(func(t *testing.T, meta, profile []byte) {
		meta, profile = slices.Clone(meta), slices.Clone(profile)
		if len(meta) > 8 && len(profile) > 8 { // most changes shall not end at the frame
			copy(meta, hpcMagic+"meta\x04")
			copy(profile, hpcMagic+"prof\x04")
			copy(meta[len(meta)-8:], "_meta.db")
			copy(profile[len(profile)-8:], "_prof.db")
		}
		d, err := ReadDir("run", hpcDir(meta, profile), Options{})
		if err != nil {
			return
		}
		for _, s := range d.Series {
			if len(s.CallPath) > 4*maxNameBytes { // what is not printable is longer in print
				t.Fatalf("a call path of %d bytes", len(s.CallPath))
			}
			for _, p := range s.Points {
				if len(p.At) != len(d.Parameters) || len(p.Values) == 0 || math.IsNaN(p.Values[0]) || math.IsInf(p.Values[0], 0) {
					t.Fatalf("a point %v with values %v over %v", p.At, p.Values, d.Parameters)
				}
			}
		}
		var b bytes.Buffer
		if err := d.WriteJSON(&b, nil); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Read("y", b.Bytes(), "slackline"); err != nil {
			t.Fatalf("what was written is not read: %v", err)
		}
	})
}
