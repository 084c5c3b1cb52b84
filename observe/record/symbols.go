package record

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// fortranMain is the symbol of the main program of Fortran.
const fortranMain = "MAIN__"

// function is a function of a program, by name and place.
type function struct {
	name string
	file string
	line int
	part bool // the compiler made it out of a part of the function
	main bool // the main program of Fortran, which a main function of the compiler calls
}

// ofLanguage reports whether a function is part of the C++ library: of what its headers bring into a program.
func (f function) ofLanguage() bool {
	return strings.HasPrefix(f.name, "std::") || strings.HasPrefix(f.name, "__gnu_cxx::")
}

// module finds names for addresses in a program or library.
type module struct {
	path    string
	runtime bool // its functions are not the user's: libc, MPI, the recorder
	file    *elf.File
	symbols []elf.Symbol // functions, by address
	units   []*unit      // by debug information
	debug   *dwarf.Data
	known   map[uint64][]function
	stubs   []elf.SectionHeader // code that calls other libraries
	slots   map[uint64]string   // names of functions of other libraries, by where their addresses are
	fortran bool
	python  bool // the interpreter of Python
}

// symbolTable has the modules of all ranks.
type symbolTable struct {
	modules map[string]*module
	self    string // the recorder's library
	missing map[string]bool
}

// withoutDebug lists the programs, not libraries, that were looked at and have no debug information.
func (t *symbolTable) withoutDebug(programs []string) []string {
	var list []string
	for _, path := range programs {
		if m := t.modules[path]; m != nil && m.file != nil && m.debug == nil && !m.python {
			list = append(list, path)
		}
	}
	return list
}

func newSymbolTable(self string) *symbolTable {
	return &symbolTable{modules: map[string]*module{}, self: self, missing: map[string]bool{}}
}

// runtimeLibraries begin the names of libraries whose functions are not the user's.
var runtimeLibraries = []string{
	"libc.so", "libc-", "libm.so", "libm-", "libmvec", "libpthread", "libdl", "librt", "ld-linux", "ld-", "linux-vdso",
	"libgcc_s", "libstdc++", "libgfortran", "libquadmath", "libgomp", "libomp", "libiomp",
	"libmpi", "libmpich", "libopen-rte", "libopen-pal", "libpmix", "libprrte", "libhwloc", "libevent", "libuc", "libfabric",
	"libibverbs", "librdmacm", "libpsm", "libnuma", "libslackline", "mca_",
	"_ctypes.", "libffi",
}

func isRuntime(path string) bool {
	base := filepath.Base(path)
	return path == "[vdso]" || isPythonGlue(path) || slices.ContainsFunc(runtimeLibraries, func(p string) bool {
		return strings.HasPrefix(base,
			p)
	})
}

// module returns the module of a file. A file that cannot be read has no names.
func (t *symbolTable) module(path string) *module {
	if m, ok := t.modules[path]; ok {
		return m
	}
	m := &module{path: path, runtime: path == t.self || isRuntime(path), known: map[uint64][]function{}}
	t.modules[path] = m
	if m.runtime || !strings.HasPrefix(path, "/") {
		return m
	}
	f, err := elf.Open(path)
	if err != nil {
		t.missing[path] = true
		return m
	}
	m.file = f
	m.readSymbols()
	m.runtime = !m.python && pythonProgram.MatchString(filepath.Base(path))
	if debug := separateDebug(f); debug != nil {
		m.addSymbols(debug)
		m.readDebug(debug)
	} else {
		m.readDebug(f)
	}
	return m
}

func (m *module) readSymbols() {
	m.addSymbols(m.file)
	for _, s := range m.file.Sections {
		if strings.HasPrefix(s.Name, ".plt") {
			m.stubs = append(m.stubs, s.SectionHeader)
		}
	}
}

func (m *module) addSymbols(f *elf.File) {
	static, _ := f.Symbols() // a stripped file has none
	dynamic, _ := f.DynamicSymbols()
	for _, s := range append(static, dynamic...) {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Value != 0 && s.Section != elf.SHN_UNDEF {
			m.symbols = append(m.symbols, s)
			m.fortran = m.fortran || s.Name == fortranMain
		}
		m.python = m.python || s.Name == "PyEval_EvalCode" && s.Section != elf.SHN_UNDEF
		m.fortran = m.fortran || s.Name == "_gfortran_set_args" // its main program may have become a part of main
	}
	slices.SortStableFunc(m.symbols, func(a, b elf.Symbol) int { return cmp.Compare(a.Value, b.Value) })
}

// separateDebug opens the debug information that lies beside the program, as distributions have it.
func separateDebug(f *elf.File) *elf.File {
	note := f.Section(".note.gnu.build-id")
	if note == nil {
		return nil
	}
	data, err := note.Data()
	if err != nil || len(data) < 20 {
		return nil
	}
	id := hex.EncodeToString(data[16:])
	debug, err := elf.Open("/usr/lib/debug/.build-id/" + id[:2] + "/" + id[2:] + ".debug")
	if err != nil {
		return nil
	}
	return debug
}

// addressOf turns a place in the file into the address that symbols have.
func (m *module) addressOf(offset uint64) (uint64, bool) {
	if m.file == nil {
		return 0, false
	}
	for _, p := range m.file.Progs {
		if p.Type == elf.PT_LOAD && offset >= p.Off && offset < p.Off+p.Filesz {
			return offset - p.Off + p.Vaddr, true
		}
	}
	return 0, false
}

// functionsAt returns the function at an address and those that were inlined into it there, outermost first.
func (m *module) functionsAt(address uint64) []function {
	if list, ok := m.known[address]; ok {
		return list
	}
	if m.python {
		return []function{interpreter}
	}
	list := m.byDebug(address)
	if list == nil {
		if name, ok := m.bySymbol(address); ok {
			list = []function{{name: name}}
		} else if !m.inStub(address) {
			list = []function{{name: fmt.Sprintf("[%s]", filepath.Base(m.path))}}
		}
	}
	list = slices.DeleteFunc(slices.Clone(list), func(f function) bool { return hidden(f.name) })
	if symbol, ok := m.symbolAt(address); ok && len(list) > 0 {
		list[0].part, list[0].main = strings.Contains(symbol, ".part."), list[0].main || symbol == fortranMain
	}
	m.known[address] = list
	return list
}

// hidden reports whether a function is no part of a user's call path: what starts the program, and the bodies of
// parallel regions, which stand for the function around them.
func hidden(name string) bool {
	switch name {
	case "_start", "_init", "_fini", "__libc_start_main", "__libc_csu_init", "deregister_tm_clones", "register_tm_clones", "frame_dummy",
		"__do_global_dtors_aux":
		return true
	}
	return strings.HasPrefix(name, "_gfortran") || strings.Contains(name, "._omp_fn.") || strings.Contains(name, ".omp_outlined") ||
		strings.Contains(name, ".omp_fn.")
}

func (m *module) inStub(address uint64) bool {
	return slices.ContainsFunc(m.stubs, func(s elf.SectionHeader) bool { return address >= s.Addr && address < s.Addr+s.Size })
}

// symbolAt is the raw name of the symbol at an address.
func (m *module) symbolAt(address uint64) (string, bool) {
	i, found := slices.BinarySearchFunc(m.symbols, address, func(s elf.Symbol, a uint64) int { return cmp.Compare(s.Value, a) })
	if !found {
		i--
	}
	for ; i >= 0; i-- { // the largest address not above; several names may have it
		s := m.symbols[i]
		if s.Size == 0 && address-s.Value > 1<<16 || s.Size > 0 && address >= s.Value+s.Size {
			if i > 0 && m.symbols[i-1].Value == s.Value {
				continue
			}
			return "", false
		}
		for i > 0 && m.symbols[i-1].Value == s.Value && m.symbols[i-1].Size == s.Size {
			i--
			s = m.symbols[i]
		}
		return s.Name, true
	}
	return "", false
}

func (m *module) bySymbol(address uint64) (string, bool) {
	name, ok := m.symbolAt(address)
	return m.plainName(name), ok
}

// plainName is the name that the user gave to a function.
func (m *module) plainName(name string) string {
	if strings.Contains(name, "._omp_fn.") {
		return name
	}
	for _, suffix := range []string{".constprop.", ".isra.", ".part.", ".cold", ".lto_priv."} {
		if i := strings.Index(name, suffix); i > 0 {
			name = name[:i]
		}
	}
	if _, rest, ok := strings.Cut(name, "_MOD_"); ok && strings.HasPrefix(name, "__") {
		return rest // gfortran: __module_MOD_name
	}
	if strings.HasPrefix(name, "_Z") {
		return demangle.Filter(name, demangle.NoParams, demangle.NoEnclosingParams)
	}
	if m.fortran && name != fortranMain {
		name = strings.TrimSuffix(name, "_")
	}
	return name
}

// mapping is a part of a process's address space that comes from a file.
type mapping struct {
	low, high, offset uint64
	path              string
}

// parseMaps reads the text of /proc/self/maps.
func parseMaps(text string) []mapping {
	var list []mapping
	for line := range strings.Lines(text) {
		var m mapping
		var flags, device string
		var inode uint64
		line = strings.TrimRight(line, "\n\x00")
		fields := strings.Fields(line)
		if len(fields) < 6 {
			continue
		}
		n, _ := fmt.Sscanf(strings.Join(fields[:5], " "), "%x-%x %s %x %s %d", &m.low, &m.high, &flags, &m.offset, &device, &inode)
		if n < 6 || !strings.Contains(flags, "x") {
			continue
		}
		m.path = strings.TrimSuffix(strings.Join(fields[5:], " "), " (deleted)")
		list = append(list, m)
	}
	return list
}

// findMapping returns the mapping of an address; nil if there is none.
func findMapping(list []mapping, address uint64) *mapping {
	for i := len(list) - 1; i >= 0; i-- { // later ones know more
		if address >= list[i].low && address < list[i].high {
			return &list[i]
		}
	}
	return nil
}
