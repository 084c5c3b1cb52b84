package record

import (
	"debug/elf"
	"encoding/binary"
)

// A function whose last act is a call leaves no frame: the compiler makes the call a jump, and who was
// called returns to the caller of the function. The function still shows: it is what the instruction
// before the return address calls.

// calledAt returns the function that the call before a return address names, if the call names one of
// this module.
func (m *module) calledAt(returnAddress uint64) (function, bool) {
	target, ok := m.callTarget(returnAddress)
	if !ok || m.inStub(target) {
		return function{}, false
	}
	if !m.begins(target) {
		return function{}, false
	}
	list := m.functionsAt(target)
	if len(list) == 0 {
		return function{}, false
	}
	return list[0], true
}

// begins reports whether a symbol begins at an address.
func (m *module) begins(address uint64) bool {
	for _, s := range m.symbols {
		if s.Value == address {
			return true
		}
		if s.Value > address {
			return false
		}
	}
	return false
}

// callTarget decodes the call before a return address; false: it is not one to a fixed address.
func (m *module) callTarget(returnAddress uint64) (uint64, bool) {
	switch m.file.Machine {
	case elf.EM_X86_64: // E8 and a distance
		code, ok := m.code(returnAddress-5, 5)
		if !ok || code[0] != 0xE8 {
			return 0, false
		}
		return returnAddress + uint64(int64(int32(binary.LittleEndian.Uint32(code[1:])))), true
	case elf.EM_AARCH64: // BL: 100101 and a distance in words
		code, ok := m.code(returnAddress-4, 4)
		if !ok {
			return 0, false
		}
		word := binary.LittleEndian.Uint32(code)
		if word>>26 != 0b100101 {
			return 0, false
		}
		return returnAddress - 4 + uint64(int64(int32(word<<6)>>6)*4), true
	}
	return 0, false
}

// code reads instructions.
func (m *module) code(address uint64, n int) ([]byte, bool) {
	for _, p := range m.file.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && address >= p.Vaddr && address+uint64(n) <= p.Vaddr+p.Filesz {
			data := make([]byte, n)
			_, err := p.ReadAt(data, int64(address-p.Vaddr))
			return data, err == nil
		}
	}
	return nil, false
}
