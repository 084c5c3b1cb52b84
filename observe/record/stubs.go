package record

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
)

// Code calls functions of other libraries through a table of their addresses, which the loader fills: by a stub that
// jumps where the table says, or directly. The relocations of the table tell their names.

// imports returns the names of the functions that the loader puts into the table, by place in it.
func (m *module) imports() map[uint64]string {
	if m.slots != nil {
		return m.slots
	}
	m.slots = map[uint64]string{}
	symbols, err := m.file.DynamicSymbols()
	if err != nil || m.file.Class != elf.ELFCLASS64 {
		return m.slots
	}
	for _, s := range m.file.Sections {
		if s.Type != elf.SHT_RELA || s.Flags&elf.SHF_ALLOC == 0 {
			continue
		}
		data, err := s.Data()
		if err != nil {
			continue
		}
		const size = 24 // place, symbol and type, addend
		for ; len(data) >= size; data = data[size:] {
			place, info := m.file.ByteOrder.Uint64(data), m.file.ByteOrder.Uint64(data[8:])
			if i := info >> 32; i > 0 && i <= uint64(len(symbols)) { // the null symbol is left out of the list
				m.slots[place] = symbols[i-1].Name
			}
		}
	}
	return m.slots
}

// importedAt returns the name of the function of another library that the call before a return address names. The
// calls of x86-64 only are known.
func (m *module) importedAt(returnAddress uint64) (string, bool) {
	if m.file.Machine != elf.EM_X86_64 {
		return "", false
	}
	if code, ok := m.code(returnAddress-6, 6); ok && code[0] == 0xFF && code[1] == 0x15 { // call *table(%rip)
		name, ok := m.imports()[throughTable(returnAddress, code[2:])]
		return name, ok
	}
	target, ok := m.callTarget(returnAddress)
	if !ok || !m.inStub(target) {
		return "", false
	}
	const stub = 16
	code, ok := m.code(target, stub)
	if !ok {
		return "", false
	}
	at := bytes.Index(code, []byte{0xFF, 0x25}) // jmp *table(%rip)
	if at < 0 || at+6 > stub {
		return "", false
	}
	name, ok := m.imports()[throughTable(target+uint64(at)+6, code[at+2:])]
	return name, ok
}

// throughTable is the place in the table that an instruction names by its distance from the next one.
func throughTable(next uint64, distance []byte) uint64 {
	return next + uint64(int64(int32(binary.LittleEndian.Uint32(distance))))
}

// exported returns the function of a name that a module offers to others.
func (m *module) exported(name string) (function, bool) {
	for _, s := range m.symbols {
		if s.Name == name && elf.ST_BIND(s.Info) != elf.STB_LOCAL {
			if list := m.functionsAt(s.Value); len(list) > 0 {
				return list[0], true
			}
		}
	}
	return function{}, false
}
